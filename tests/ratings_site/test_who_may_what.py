"""Every address of the site × everybody × GET and POST: what is answered. An address that nobody expects fails.

The letters stand for, in this order: whoever is not logged in, a player, another player, the organiser of another pool, the
organiser of this pool, a superuser. The player has a match, a report, a message and a table for certain others; the POST has no
fields.

    P a page       M sent elsewhere       L sent to the log-in    F forbidden
    N no such      K a key is needed      X not by this method    B a bad request
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from axes.models import AccessAttempt
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver
from django.utils import timezone

from matches import jobs
from matches.completion import complete_match
from matches.corrections import Correction, correct
from matches.imports import jobs as import_jobs
from matches.imports.transcripts.reading import NamedFile
from matches.inbox.telling import tell
from matches.lobby.tables import challenge, invite
from matches.merging import merge
from matches.models import Appeal, Delivery, Event, Match, Message, Table, Webhook
from matches.reports import reporting
from players.accounts.models import Claim
from players.api.keys import make_key
from players.api.models import ApiKey, ExternalPlayer
from players.models import Organiser, Player
from players.services import create_players
from players.systems.base import Result
from tests.building import pool_of, won
from tests.matches.reports.reporting import FIRST_WON, TERMS, started

pytestmark = pytest.mark.django_db

NOBODY, PLAYER, OTHER, ELSEWHERE, HERE, CHIEF = (
    "nobody",
    "the player",
    "another player",
    "organiser elsewhere",
    "organiser",
    "chief",
)
EVERYBODY = (NOBODY, PLAYER, OTHER, ELSEWHERE, HERE, CHIEF)
THIS, ANOTHER = "crowns-cup", "tics"

QUERIES = {
    "admin/autocomplete/": "app_label=matches&model_name=participant&field_name=player",
    "admin/matches/match/void/": "match={match}",
    "admin/matches/match/unvoid/": "match={match}",
}
BODIES = {"void": {"reason": "annulled"}, "unvoid": {"reason": "annulled"}, "call-off": {"reason": "annulled"}}
"""What is asked, and sent to the API, where that tells more than nothing."""
EXPECTED = r"""
LLLPPP LLLPPP /admin/
LFFNNN LFFPPP /admin/login/
NNNXXX NNNMMM /admin/logout/
LLLPPP LLLPPP /admin/password_change/
LLLPPP LLLXXX /admin/password_change/done/
LLLPPP LLLXXX /admin/autocomplete/
LLLPPP LLLXXX /admin/jsi18n/
LLLNNN LLLNNN /admin/r/<path:content_type_id>/<path:object_id>/
LLLFFP LLLFFP /admin/auth/group/
LLLFFP LLLFFP /admin/auth/group/add/
LLLFFP LLLFFP /admin/auth/group/<path:object_id>/history/
LLLFFP LLLFFP /admin/auth/group/<path:object_id>/delete/
LLLFFP LLLFFP /admin/auth/group/<path:object_id>/change/
LLLMMM LLLMMM /admin/auth/group/<path:object_id>/
LLLFFP LLLFFP /admin/account/emailaddress/
LLLFFP LLLFFP /admin/account/emailaddress/add/
LLLFFP LLLFFP /admin/account/emailaddress/<path:object_id>/history/
LLLFFP LLLFFP /admin/account/emailaddress/<path:object_id>/delete/
LLLFFP LLLFFP /admin/account/emailaddress/<path:object_id>/change/
LLLMMM LLLMMM /admin/account/emailaddress/<path:object_id>/
LLLFFP LLLFFP /admin/axes/accessattempt/
LLLFFF LLLFFF /admin/axes/accessattempt/add/
LLLFFP LLLFFP /admin/axes/accessattempt/<path:object_id>/history/
LLLFFP LLLFFP /admin/axes/accessattempt/<path:object_id>/delete/
LLLFFP LLLFFM /admin/axes/accessattempt/<path:object_id>/change/
LLLMMM LLLMMM /admin/axes/accessattempt/<path:object_id>/
LLLFFP LLLFFP /admin/axes/accesslog/
LLLFFF LLLFFF /admin/axes/accesslog/add/
LLLNNN LLLNNN /admin/axes/accesslog/<path:object_id>/history/
LLLFFN LLLFFN /admin/axes/accesslog/<path:object_id>/delete/
LLLFFN LLLFFN /admin/axes/accesslog/<path:object_id>/change/
LLLMMM LLLMMM /admin/axes/accesslog/<path:object_id>/
LLLFFP LLLFFP /admin/axes/accessfailurelog/
LLLFFF LLLFFF /admin/axes/accessfailurelog/add/
LLLNNN LLLNNN /admin/axes/accessfailurelog/<path:object_id>/history/
LLLFFN LLLFFN /admin/axes/accessfailurelog/<path:object_id>/delete/
LLLFFN LLLFFN /admin/axes/accessfailurelog/<path:object_id>/change/
LLLMMM LLLMMM /admin/axes/accessfailurelog/<path:object_id>/
LLLFFP LLLFFP /admin/auth/user/<id>/password/
LLLFFP LLLFFP /admin/auth/user/
LLLFFP LLLFFP /admin/auth/user/add/
LLLFFP LLLFFP /admin/auth/user/<path:object_id>/history/
LLLFFP LLLFFP /admin/auth/user/<path:object_id>/delete/
LLLFFP LLLFFP /admin/auth/user/<path:object_id>/change/
LLLMMM LLLMMM /admin/auth/user/<path:object_id>/
LLLPPP LLLPPP /admin/players/claim/
LLLFFF LLLFFF /admin/players/claim/add/
LLLNPP LLLNPP /admin/players/claim/<path:object_id>/history/
LLLFFF LLLFFF /admin/players/claim/<path:object_id>/delete/
LLLNPP LLLFFF /admin/players/claim/<path:object_id>/change/
LLLMMM LLLMMM /admin/players/claim/<path:object_id>/
LLLFFP LLLFFP /admin/players/apikey/<path:object_id>/rotate/
LLLFFP LLLFFM /admin/players/apikey/<path:object_id>/revoke/
LLLFFP LLLFFP /admin/players/apikey/
LLLFFP LLLFFP /admin/players/apikey/add/
LLLFFP LLLFFP /admin/players/apikey/<path:object_id>/history/
LLLFFF LLLFFF /admin/players/apikey/<path:object_id>/delete/
LLLFFP LLLFFP /admin/players/apikey/<path:object_id>/change/
LLLMMM LLLMMM /admin/players/apikey/<path:object_id>/
LLLFFP LLLFFP /admin/players/externalplayer/
LLLFFP LLLFFP /admin/players/externalplayer/add/
LLLFFP LLLFFP /admin/players/externalplayer/<path:object_id>/history/
LLLFFP LLLFFP /admin/players/externalplayer/<path:object_id>/delete/
LLLFFP LLLFFP /admin/players/externalplayer/<path:object_id>/change/
LLLMMM LLLMMM /admin/players/externalplayer/<path:object_id>/
LLLFFP LLLFFP /admin/players/player/<path:object_id>/anonymise/
LLLFFP LLLFFP /admin/players/player/
LLLFFP LLLFFP /admin/players/player/add/
LLLFFP LLLFFP /admin/players/player/<path:object_id>/history/
LLLFFF LLLFFF /admin/players/player/<path:object_id>/delete/
LLLFFP LLLFFP /admin/players/player/<path:object_id>/change/
LLLMMM LLLMMM /admin/players/player/<path:object_id>/
LLLPPP LLLPPP /admin/players/rating/
LLLFFF LLLFFF /admin/players/rating/add/
LLLNPP LLLNPP /admin/players/rating/<path:object_id>/history/
LLLFFF LLLFFF /admin/players/rating/<path:object_id>/delete/
LLLNPP LLLFFF /admin/players/rating/<path:object_id>/change/
LLLMMM LLLMMM /admin/players/rating/<path:object_id>/
LLLPPP LLLPPP /admin/players/ratingchange/
LLLFFF LLLFFF /admin/players/ratingchange/add/
LLLNPP LLLNPP /admin/players/ratingchange/<path:object_id>/history/
LLLFFF LLLFFF /admin/players/ratingchange/<path:object_id>/delete/
LLLNPP LLLFFF /admin/players/ratingchange/<path:object_id>/change/
LLLMMM LLLMMM /admin/players/ratingchange/<path:object_id>/
LLLFPP LLLFPP /admin/matches/import/<path:object_id>/progress/
LLLNPP LLLNPP /admin/matches/import/<path:object_id>/report.csv
LLLNMM LLLNMM /admin/matches/import/<path:object_id>/undo/
LLLPPP LLLPPP /admin/matches/import/
LLLPPP LLLPPP /admin/matches/import/add/
LLLNPP LLLNPP /admin/matches/import/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/import/<path:object_id>/delete/
LLLNPP LLLNMM /admin/matches/import/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/import/<path:object_id>/
LLLFPP LLLFPP /admin/matches/correctionjob/<path:object_id>/progress/
LLLPPP LLLPPP /admin/matches/correctionjob/
LLLFFF LLLFFF /admin/matches/correctionjob/add/
LLLNPP LLLNPP /admin/matches/correctionjob/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/correctionjob/<path:object_id>/delete/
LLLNPP LLLNMM /admin/matches/correctionjob/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/correctionjob/<path:object_id>/
LLLMPP LLLMMM /admin/matches/match/void/
LLLMMM LLLMMM /admin/matches/match/unvoid/
LLLNPP LLLNPP /admin/matches/match/<path:object_id>/correct/
LLLPPP LLLPPP /admin/matches/match/
LLLPPP LLLPPP /admin/matches/match/add/
LLLNPP LLLNPP /admin/matches/match/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/match/<path:object_id>/delete/
LLLNPP LLLNPP /admin/matches/match/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/match/<path:object_id>/
LLLFFP LLLFFP /admin/matches/merge/<path:object_id>/undo/
LLLFFP LLLFFP /admin/matches/merge/
LLLFFP LLLFFP /admin/matches/merge/add/
LLLFFP LLLFFP /admin/matches/merge/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/merge/<path:object_id>/delete/
LLLFFP LLLFFF /admin/matches/merge/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/merge/<path:object_id>/
LLLFFP LLLFFP /admin/matches/webhook/
LLLFFP LLLFFP /admin/matches/webhook/add/
LLLFFP LLLFFP /admin/matches/webhook/<path:object_id>/history/
LLLFFP LLLFFP /admin/matches/webhook/<path:object_id>/delete/
LLLFFP LLLFFP /admin/matches/webhook/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/webhook/<path:object_id>/
LLLFFP LLLFFP /admin/matches/delivery/
LLLFFF LLLFFF /admin/matches/delivery/add/
LLLFFP LLLFFP /admin/matches/delivery/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/delivery/<path:object_id>/delete/
LLLFFP LLLFFF /admin/matches/delivery/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/delivery/<path:object_id>/
LLLPPP LLLPPP /admin/matches/report/queue/
LLLFPP LLLFPP /admin/matches/report/settle/<int:match_id>/
LLLPPP LLLPPP /admin/matches/report/
LLLFFF LLLFFF /admin/matches/report/add/
LLLNPP LLLNPP /admin/matches/report/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/report/<path:object_id>/delete/
LLLNMM LLLNMM /admin/matches/report/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/report/<path:object_id>/
LLLPPP LLLPPP /admin/matches/appeal/
LLLFFF LLLFFF /admin/matches/appeal/add/
LLLNPP LLLNPP /admin/matches/appeal/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/appeal/<path:object_id>/delete/
LLLNPP LLLNPP /admin/matches/appeal/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/appeal/<path:object_id>/
LLLFFP LLLFFP /admin/players/pool/
LLLFFP LLLFFP /admin/players/pool/add/
LLLFFP LLLFFP /admin/players/pool/<path:object_id>/history/
LLLFFF LLLFFF /admin/players/pool/<path:object_id>/delete/
LLLFFP LLLFFP /admin/players/pool/<path:object_id>/change/
LLLMMM LLLMMM /admin/players/pool/<path:object_id>/
LLLFFP LLLFFP /admin/matches/revision/parameters/<int:pool_id>/
LLLPPP LLLPPP /admin/matches/revision/
LLLFFF LLLFFF /admin/matches/revision/add/
LLLNPP LLLNPP /admin/matches/revision/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/revision/<path:object_id>/delete/
LLLNPP LLLFFF /admin/matches/revision/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/revision/<path:object_id>/
LLLFFP LLLFFP /admin/matches/table/
LLLFFP LLLFFP /admin/matches/table/add/
LLLFFP LLLFFP /admin/matches/table/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/table/<path:object_id>/delete/
LLLFFP LLLFFF /admin/matches/table/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/table/<path:object_id>/
LLLFFP LLLFFP /admin/matches/lobby/
LLLFFP LLLFFP /admin/matches/lobby/add/
LLLFFP LLLFFP /admin/matches/lobby/<path:object_id>/history/
LLLFFF LLLFFF /admin/matches/lobby/<path:object_id>/delete/
LLLFFP LLLFFP /admin/matches/lobby/<path:object_id>/change/
LLLMMM LLLMMM /admin/matches/lobby/<path:object_id>/
LLLPPP LLLPPP /admin/^(?P<app_label>auth|account|axes|players|matches)/$
LLLNNN LLLNNN /admin/(?P<url>.*)$
LPPMMM LPPMMM /cashier/profile/
LMMPPP LMMPPP /accounts/player/
PMMMMM PMMMMM /accounts/login/
MPPPPP MMMMMM /accounts/logout/
PPPPPP XXXXXX /accounts/inactive/
PMMMMM PMMMMM /accounts/signup/
LPPFFF LPPFFF /accounts/reauthenticate/
LMPFFF LMPFFF /accounts/reauthenticate/code/
LMMMMM LMMMMM /accounts/reauthenticate/code/confirm/
LPPPPP LMMMMM /accounts/email/
PPPPPP XXXXXX /accounts/confirm-email/
LPPMMM LPPMMM /accounts/password/change/
LMMPPP LMMPPP /accounts/password/set/
PPPPPP PPPPPP /accounts/password/reset/
LMMMMM LMMMMM /accounts/login/code/confirm/
PPPPPP NNNNNN /accounts/^confirm-email/(?P<key>[-:\w]+)/$
PPPPPP XXXXXX /accounts/password/reset/key/done/
PPPPPP PPPPPP /accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$
PPPPPP XXXXXX /accounts/password/reset/done/
MMMMMM MMMMMM /i18n/setlang/
PPPPPP XXXXXX /api/v1/pools/
PPPPPP XXXXXX /api/v1/pools/<slug:pool>/
PPPPPP XXXXXX /api/v1/pools/<slug:pool>/rankings/
BBBBBB XXXXXX /api/v1/pools/<slug:pool>/prediction/
XXXXXX BBBBBB /api/v1/pools/<slug:pool>/simulate/
PPPPPP XXXXXX /api/v1/players/
PPPPPP XXXXXX /api/v1/players/<id:player>/
PPPPPP XXXXXX /api/v1/players/<id:player>/ratings/<slug:pool>/
PPPPPP XXXXXX /api/v1/players/<id:player>/ratings/<slug:pool>/history/
BBBBBB KBBBBB /api/v1/matches/
XXXXXX KBBBBB /api/v1/matches/batch/
PPPPPP XXXXXX /api/v1/matches/<id:match>/
XXXXXX KFFFPP /api/v1/matches/<id:match>/void/
XXXXXX KFFFPP /api/v1/matches/<id:match>/unvoid/
XXXXXX KBBBBB /api/v1/matches/<id:match>/evaluate/
XXXXXX KFFFFF /api/v1/matches/<id:match>/call-off/
XXXXXX KBBBBB /api/v1/tables/
NNNNNN XXXXXX /api/v1/tables/<id:table>/
XXXXXX KBBBBB /api/v1/tables/<id:table>/seats/
XXXXXX XXXXXX /api/v1/tables/<id:table>/seats/<id:player>/
KNNNNP XXXXXX /api/v1/jobs/<id:job>/
XXXXXX KBBBBB /api/v1/jobs/<id:job>/confirm/
XXXXXX KNNNNP /api/v1/jobs/<id:job>/withdraw/
PPPPPP XXXXXX /api/v1/feed/
PPPPPP XXXXXX /api/v1/pools/<slug:pool>/lobby/
PPPPPP XXXXXX /api/v1/schema/
PPPPPP XXXXXX /api/v1/docs/
NNNNNN NNNNNN /api/v1/^[\s\S]*$
LPPPPP XXXXXX /cashier/data/
PPPPPP XXXXXX /pools/<slug:pool_slug>/files/
PPPPPP XXXXXX /pools/<slug:pool_slug>/files/<slug:what>.<slug:form>
LPPPPP XXXXXX /cashier/
LPPPPP XXXXXX /cashier/<pool:pool_slug>/
LPPPPP XXXXXX /cashier/<pool:pool_slug>/points/
LPPPPP XXXXXX /cashier/<pool:pool_slug>/history/
LPPPPP XXXXXX /cashier/matches/
LPPPPP XXXXXX /cashier/statistics/
LPPPPP XXXXXX /cashier/statistics/<pool:pool_slug>/
PPPPPP XXXXXX /players/<str:slug>/vs/<str:other>/
PPPPPP XXXXXX /players/<str:slug>/
PPPPPP XXXXXX /players/<str:slug>/<pool:pool_slug>/
PPPPPP XXXXXX /players/<str:slug>/<pool:pool_slug>/points/
PPPPPP XXXXXX /players/<str:slug>/<pool:pool_slug>/history/
PPPPPP XXXXXX /players/<str:slug>/matches/
PPPPPP XXXXXX /players/<str:slug>/statistics/
PPPPPP XXXXXX /players/<str:slug>/statistics/<pool:pool_slug>/
MMMMMM XXXXXX /rankings/
PPPPPP XXXXXX /rankings/<slug:pool_slug>/
XXXXXX MMMMMM /theme/
PPPPPP XXXXXX /
MMMMMM XXXXXX /lobby/
PPPPPP XXXXXX /lobby/<slug:pool_slug>/
PPPPPP XXXXXX /lobby/<slug:pool_slug>/tables/
XXXXXX LBBFFF /lobby/<slug:pool_slug>/open/
XXXXXX LBBFFF /lobby/<slug:pool_slug>/pairing/
XXXXXX LMMFFF /lobby/<slug:pool_slug>/pairing/stop/
XXXXXX LBBFFF /lobby/<slug:pool_slug>/invite/
PPPPPP LBBFFF /lobby/<slug:pool_slug>/challenge/<str:slug>/
NPNNNN XXXXXX /tables/<int:table_id>/
XXXXXX LMNFFF /tables/<int:table_id>/seat/
XXXXXX LMNFFF /tables/<int:table_id>/leave/
XXXXXX LMNFFF /tables/<int:table_id>/decline/
PPPPPP XXXXXX /invitations/<str:token>/
XXXXXX LMMFFF /invitations/<str:token>/seat/
XXXXXX LMMFFF /matches/<int:match_id>/rematch/
LPPPPP XXXXXX /cashier/statement/
LPPPPP XXXXXX /cashier/statement/csv/
LPPPPP XXXXXX /cashier/messages/
XXXXXX LMMMMM /cashier/messages/read/
XXXXXX LMNNNN /cashier/messages/<int:message_id>/
PPPPPP XXXXXX /rankings/<slug:pool_slug>.csv
MMMMMM XXXXXX /rules/
PPPPPP XXXXXX /rules/<slug:pool_slug>/
MMMMMM XXXXXX /simulator/
PPPPPP XXXXXX /simulator/players.json
PPPPPP XXXXXX /simulator/<slug:pool_slug>/
PPPPPP XXXXXX /matches/<int:match_id>/
PPPPPP XXXXXX /matches/<int:match_id>/seats/<int:seat>/
LPFPPP LBFFFF /matches/<int:match_id>/report/
LPFPPP LBFFFF /matches/<int:match_id>/appeal/
LPPPPP XXXXXX /matches/unfinished/
XXXXXX LMFFFF /reports/<int:report_id>/confirm/
XXXXXX LBFFFF /reports/<int:report_id>/dispute/
XXXXXX LFFFFF /reports/<int:report_id>/withdraw/
"""


class World:
    """What the addresses lead to, all of it in this pool, and who asks."""

    def __init__(self) -> None:
        now = timezone.now()
        self.pool = pool = pool_of(THIS)
        self.vera, self.didrik, self.hugo, self.double = vera, didrik, hugo, double = create_players(
            ["Vera", "Didrik", "Hugo", "Vera (2)"]
        )
        self.users: dict[str, User | None] = {NOBODY: None, CHIEF: User.objects.create_superuser("chief")}
        for who, player in ((PLAYER, vera), (OTHER, didrik)):
            address = f"{player.slug}@ratings.example"
            player.user = self.users[who] = User.objects.create_user(player.slug, address, "a password")
            player.save(update_fields=["user"])
        for who, slug in ((HERE, THIS), (ELSEWHERE, ANOTHER)):
            self.users[who] = user = User.objects.create_user(f"of {slug}", is_staff=True)
            Organiser.objects.create(user=user, pool=pool_of(slug))
        chief = self.users[CHIEF]
        terms = TERMS[THIS]

        def played(hours: float) -> Match:
            return complete_match(pool, won(vera, hugo, now - timedelta(hours=hours), kind="table", **terms))

        revised, self.match, appealed = played(50), played(40), played(30)
        correct(pool, [Correction(revised, void=True)], reason="annulled", made_by=chief)
        self.open, _ = started(THIS, [vera, hugo])
        self.report = reporting.report(match_id=self.open.pk, player=hugo, told=FIRST_WON)
        self.job = jobs.start(pool, [Correction(self.match, void=True)], reason="annulled", made_by=chief)
        list_of_one = f"ended_at,winner,loser,length,stake,real_money,kind\n{now.isoformat()},Vera,Hugo,5,10,yes,table\n"
        self.imported = import_jobs.begin(pool, [NamedFile("club.csv", list_of_one.encode())], made_by=chief)
        self.merge = merge(vera, double, reason="the same person", made_by=chief)
        self.appeal = Appeal.objects.create(match=appealed, player=vera, text="no")
        self.table = challenge(pool, hugo, vera, Result(**terms))
        self.invitation = invite(pool, vera, Result(**terms))
        tell([vera.pk], Message.Kind.DISPUTED, "one", pool, now=now, match=self.match)
        self.message = Message.objects.get(player=vera, key="one")
        key = ApiKey(name="server", source="server")
        make_key(key, made_by=chief, pools=[pool])
        webhook = Webhook.objects.create(name="server", url="https://ratings.example/", kinds=["rated"], made_by=chief)
        event = Event.objects.filter(pool=pool).first()
        EmailAddress.objects.create(user=didrik.user, email="didrik@ratings.example", verified=True)
        AccessAttempt.objects.create(attempt_time=now, username="vera", failures_since_start=1)
        rows: dict[type[Any], Any] = {
            Group: Group.objects.create(name="staff"),
            ApiKey: key,
            Webhook: webhook,
            Delivery: Delivery.objects.create(webhook=webhook, event=event),
            ExternalPlayer: ExternalPlayer.objects.create(source="server", external_id="7", player=hugo),
            Claim: Claim.objects.create(user=User.objects.create_user("claims"), player=hugo),
            User: self.users[PLAYER],
            Match: self.match,
            Player: vera,
            Table: self.table,
            type(pool): pool,
            type(self.imported): self.imported,
            type(self.job): self.job,
            type(self.report): self.report,
        }
        self.named = {
            "pool_slug": THIS,
            "pool": THIS,
            "slug": vera.slug,
            "other": hugo.slug,
            "match_id": self.open.pk,
            "seat": 1,
            "match": self.match.pk,
            "player": vera.pk,
            "table": self.table.pk,
            "table_id": self.table.pk,
            "token": self.invitation.token,
            "report_id": self.report.pk,
            "message_id": self.message.pk,
            "job": self.job.pk,
            "pool_id": pool.pk,
            "what": "matches",
            "form": "csv",
            "app_label": "matches",
            "uidb36": "1",
            "key": "a-b",
            "url": "nowhere",
            "content_type_id": 1,
        }
        self.rows = {
            f"admin/{model._meta.app_label}/{model._meta.model_name}/": rows.get(model) or model._default_manager.first()
            for model in admin.site._registry
        }


ANSWERS = {200: "P", 400: "B", 401: "K", 403: "F", 404: "N", 405: "X"}


def patterns(resolver: Any, before: str = "") -> Iterator[str]:
    for one in resolver.url_patterns:
        route = f"{before}{one.pattern}"
        if isinstance(one, URLPattern):
            yield route
        else:
            yield from patterns(one, route)


def address_of(route: str, world: World) -> str:
    """An address that the route takes, of something that is there where there is something."""
    row = next((row for begin, row in world.rows.items() if route.startswith(begin)), None)

    def value(found: re.Match[str]) -> str:
        name = found[1]
        return str(row.pk if row is not None else 1) if name in ("object_id", "id") else str(world.named[name])

    plain = route.replace(r"[\s\S]*", "nowhere").replace("^", "").replace("$", "")
    address = re.sub(r"<(?:\w+:)?(\w+)>", value, re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", plain))
    query = QUERIES.get(route)
    return f"/{address}?{query.format(**world.named)}" if query else f"/{address}"


def answer_of(client: Client, method: str, address: str) -> str:
    """What is answered, in a letter. What it has changed is taken back."""
    cookies, by_program = client.cookies.copy(), address.startswith("/api/")
    body = json.dumps(BODIES.get(address.split("/")[-2], {})) if by_program and method == "POST" else ""
    kind = "application/json" if by_program else "application/x-www-form-urlencoded"
    with transaction.atomic():
        response = client.generic(method, address, body, content_type=kind)
        transaction.set_rollback(True)
    client.cookies = cookies
    if response.status_code == 302:
        # To the start of the administration is how that says that there is no such row.
        return "L" if "/login/" in response["Location"] else "N" if response["Location"] == "/admin/" else "M"
    return ANSWERS[response.status_code]


def logged_in(user: User | None, **how: Any) -> Client:
    client = Client(**how)
    if user is not None:
        client.force_login(user)
    return client


@pytest.mark.parametrize("who", EVERYBODY)
def test_everybody_is_answered_as_expected(who: str) -> None:
    world = World()
    client, place = logged_in(world.users[who]), EVERYBODY.index(who)
    lines = (line.split(" ", 2) for line in EXPECTED.strip("\n").split("\n"))
    expected = {route.removeprefix("/"): (get[place], post[place]) for get, post, route in lines}
    found = {}
    for route in patterns(get_resolver()):
        assert route in expected, f"Who may what at {route}?"
        address = address_of(route, world)
        found[route] = answer_of(client, "GET", address), answer_of(client, "POST", address)
    assert found == expected


def test_nothing_is_done_for_a_form_of_another_site() -> None:
    world = World()
    client = logged_in(world.users[CHIEF], enforce_csrf_checks=True)
    for route in patterns(get_resolver()):
        assert answer_of(client, "POST", address_of(route, world)) in "FNX", route
