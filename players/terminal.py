"""What commands share: settings as NAME=VALUE, pools and players by address or name, and the reason that every change needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from players.models import Player, Pool
from players.names import clean_name, name_key
from players.numbers import whole
from players.services import find_by_address


def read_settings(given: Sequence[str]) -> dict[str, Any]:
    """The values of --set NAME=VALUE, by name: JSON, or text where it is none. Raises CommandError."""
    values: dict[str, Any] = {}
    for setting in given:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise CommandError(_("--set takes NAME=VALUE, not “%(given)s”.") % {"given": setting})
        if key in values:
            raise CommandError(_("--set names “%(name)s” twice.") % {"name": key})
        try:
            values[key] = json.loads(text)
        except ValueError:
            values[key] = text
    return values


def find_pool(slug: str) -> Pool:
    """The pool of this address. Raises CommandError, which names those there are."""
    pool = Pool.objects.filter(slug=slug).first() if "\0" not in slug else None
    if pool is None:
        known = ", ".join(Pool.objects.order_by("slug").values_list("slug", flat=True))
        raise CommandError(_("There is no pool “%(slug)s”. Known: %(known)s.") % {"slug": slug, "known": known or "–"})
    return pool


def find_player(text: str) -> Player:
    """The player of a name, an address, or `#` and a number: the row itself, also where it is a merged duplicate.

    Raises CommandError.
    """
    number = whole(text.removeprefix("#")) if text.startswith("#") else None
    found = Player.objects.filter(name_key=name_key(clean_name(text))).first()
    if found is None and number is not None:
        found = Player.objects.filter(pk=number).first()
    if found is None and "\0" not in text:
        found = Player.objects.filter(slug=text).first()
    if found is None:
        try:
            found, _current = find_by_address(text)
        except Player.DoesNotExist:
            raise CommandError(_("There is no player “%(name)s”.") % {"name": text}) from None
    return found


def reason_of(options: Mapping[str, Any]) -> str:
    """The --reason. Raises CommandError where it is missing."""
    reason = clean_name(options["reason"])
    if not reason:
        raise CommandError(_("--reason is needed: who looks at the change later will read it."))
    return reason


def add_by(parser: CommandParser) -> None:
    """The option that says who makes a change: whoever has the terminal is nobody to the site."""
    parser.add_argument("--by", metavar="LOGIN", help="whose change it is; stays on record with it")


def made_by(options: Mapping[str, Any]) -> User | None:
    """The login of --by. Raises CommandError where there is none of that name."""
    if options["by"] is None:
        return None
    user = User.objects.filter(username=options["by"]).first()
    if user is None:
        raise CommandError(_("There is no login “%(name)s”.") % {"name": options["by"]})
    return user


@contextmanager
def saying_why() -> Iterator[None]:
    """Raise a ValidationError of a service as a CommandError with its words."""
    try:
        yield
    except ValidationError as error:
        raise CommandError("\n".join(error.messages)) from None


def done(command: BaseCommand, text: str) -> None:
    command.stdout.write(command.style.SUCCESS(text))
