"""Which addresses the site may be made to call: those of the public internet, unless the settings say otherwise."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
PORTS = {"http": 80, "https": 443}


class BadAddress(Exception):
    """The site does not call this address; the message says why, in words."""


def is_public(address: Address) -> bool:
    """Whether an address is on the public internet. One that hides another inside counts as that other, or not at all."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address.sixtofour is not None or address.teredo is not None or any(address in network for network in NAT64):
            return False
    return address.is_global and not address.is_multicast


def check_url(url: str) -> tuple[str, str, int]:
    """The scheme, host and port of an address that may be called as far as it can be told by its text. Raises BadAddress."""
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), parts.hostname, parts.port
    except ValueError:
        raise BadAddress(_("This is no address.")) from None
    if scheme not in PORTS or not host:
        raise BadAddress(_("An address begins with https:// and names a host."))
    if parts.username is not None or parts.password is not None:
        raise BadAddress(_("An address cannot hold a name or a password."))
    if scheme != "https" and not settings.WEBHOOKS_MAY_BE_PRIVATE:
        raise BadAddress(_("Webhooks are sent by https only."))
    return scheme, host, port or PORTS[scheme]


def resolve(host: str, port: int) -> str:
    """The address (a number) of a host to connect to. Raises BadAddress where it has none, or one that is not public.

    What is checked is what is connected to: a name that answers otherwise the second time gains nothing.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadAddress(_("The host %(host)s is not found.") % {"host": host}) from None
    addresses = [str(place[0]) for *_rest, place in found]
    if not settings.WEBHOOKS_MAY_BE_PRIVATE and not all(
        is_public(ipaddress.ip_address(address.partition("%")[0])) for address in addresses
    ):
        raise BadAddress(_("The host %(host)s is not on the public internet.") % {"host": host})
    return addresses[0]
