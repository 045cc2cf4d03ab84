"""The shapes of tables that servers open, and of what becomes of the matches that start there."""

from __future__ import annotations

from rest_framework import serializers as s

from matches.api.result_shapes import PlayerSent
from matches.api.shapes import TABLE_STATUS, Reason
from matches.reports.models import NOTE_MAX
from players.api.schema import Error
from players.api.shapes import Number, PlayerName
from players.systems.base import EXPERIENCE_LIMIT, RATING_LIMIT


def _limit(most: int, words: str) -> s.IntegerField:
    return s.IntegerField(required=False, allow_null=True, min_value=0, max_value=most, help_text=words)


class TableSent(s.Serializer):
    pool = s.CharField(max_length=50)
    external_id = s.CharField(max_length=200, help_text="Your own id of the table: the same again is the same table.")
    host = PlayerSent()
    length = s.IntegerField(required=False, allow_null=True, min_value=1, max_value=99, help_text="Points; none: a money game.")
    deals = s.IntegerField(required=False, allow_null=True, min_value=1, max_value=999)
    stake = s.FloatField(
        required=False, allow_null=True, min_value=0.01, help_text="Euros per player; in a money game per point."
    )
    real_money = s.BooleanField(required=False, allow_null=True)
    max_difference = _limit(int(RATING_LIMIT), "Points of rating by which others may differ from the host; none: any.")
    min_experience = _limit(EXPERIENCE_LIMIT, "Who may join; none: any.")
    max_experience = _limit(EXPERIENCE_LIMIT, "Who may join; none: any.")


class SitsDownSent(s.Serializer):
    player = PlayerSent()


class TableAnswer(s.Serializer):
    id = s.IntegerField()
    page = s.CharField()
    pool = s.CharField()
    external_id = s.CharField(allow_null=True, help_text="Your own id of it; null for what is not from your source.")
    status = s.ChoiceField(TABLE_STATUS)
    closed_because = Reason(allow_null=True)
    match = s.IntegerField(allow_null=True, help_text="The match that has started.")
    host = PlayerName()
    players = PlayerName(many=True, help_text="Who sits there, or plays the match, by seat.")
    seats = s.IntegerField(help_text="How many there are: with the last one the match starts.")
    length = s.IntegerField(allow_null=True)
    deals = s.IntegerField(allow_null=True)
    stake = Number(allow_null=True)
    stake_hidden = s.BooleanField(help_text="Whether there is a stake that the pool does not show to you.")
    real_money = s.BooleanField(allow_null=True)
    max_difference = s.IntegerField(allow_null=True)
    min_experience = s.IntegerField(allow_null=True)
    max_experience = s.IntegerField(allow_null=True)
    opened_at = s.DateTimeField()


class TableRefused(Error):
    code = s.CharField(help_text="conflict, or why the lobby refuses: already, full, closed, started, not_admitted.")
    table = s.IntegerField(allow_null=True, required=False)


class EvaluationSent(s.Serializer):
    external_id = s.CharField(max_length=200, help_text="Your own id of the match.")
    chance = s.FloatField(min_value=0, max_value=1, help_text="Of the first player to win, at the break.")
    note = s.CharField(max_length=NOTE_MAX, help_text="The position and what led to the number. Everybody can read it.")
    evaluator = s.CharField(required=False, allow_null=True, max_length=100, help_text="The program or person.")
    points = s.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=9999, help_text="Of a money game: the cube's value."
    )


class CallOffSent(s.Serializer):
    reason = s.CharField(max_length=NOTE_MAX, help_text="For the players who have reported a result.")
