"""The shapes of results from servers: what is sent and what is answered. The tests hold every answer against them."""

from __future__ import annotations

from rest_framework import serializers as s

from matches.api.shapes import JOB_STATUS, MATCH_STATUS, REVISION_KIND, Reason
from players.api.schema import FieldError
from players.api.shapes import End, Number, PlayerName
from players.systems.base import ALL_KINDS


class PublishedNumbers(s.Serializer):
    before = Number(allow_null=True, help_text="null where the match did not count.")
    change = Number(allow_null=True)
    after = Number(allow_null=True)
    experience_before = s.IntegerField(allow_null=True)
    experience_after = s.IntegerField(allow_null=True)


class PlayerResult(PublishedNumbers):
    """What the match did to a player, as it was first published."""

    player = PlayerName()
    rake = Number(allow_null=True, help_text="Euros, where the pool takes one and you may see it.")
    revised = PublishedNumbers(allow_null=True, help_text="What it is by now, where a revision changed it; else null.")


class MatchResult(End):
    match = s.IntegerField(help_text="Its id here.")
    page = s.CharField()
    pool = s.CharField()
    external_id = s.CharField(allow_null=True)
    status = s.ChoiceField(MATCH_STATUS)
    version = s.IntegerField()
    counted = s.BooleanField(help_text="Whether it moves ratings.")
    not_counted = Reason(allow_null=True, help_text="Why it moves none.")
    players = PlayerResult(many=True, help_text="In the order in which you sent them.")


class PlayerSent(s.Serializer):
    """Whom you mean: by id, or by name, or by your own id; with your own id the name of somebody new too."""

    id = s.IntegerField(required=False, min_value=1, help_text="His id here.")
    name = s.CharField(required=False, max_length=80)
    external_id = s.CharField(required=False, max_length=200, help_text="Your own id of him.")


class ResultFields(s.Serializer):
    """How it ended: exactly one of scores, places and chance."""

    scores = s.ListField(child=s.FloatField(), required=False, allow_null=True, help_text="By seat: 1 won, 0 lost, 0.5 drawn.")
    places = s.ListField(
        child=s.IntegerField(), required=False, allow_null=True, help_text="By seat, 1 to 4; shared ones are equal."
    )
    chance = s.FloatField(
        required=False, allow_null=True, min_value=0, max_value=1, help_text="Broken off: the first player's chance to win."
    )
    length = s.IntegerField(required=False, allow_null=True, min_value=1, max_value=99, help_text="Points; none: a money game.")
    deals = s.IntegerField(required=False, allow_null=True, min_value=1, max_value=999)
    points = s.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=9999,
        help_text="Of a money game: cube times 1, 2, 3.",
    )
    stake = s.FloatField(
        required=False, allow_null=True, min_value=0.01, help_text="Euros per player; in a money game per point."
    )
    real_money = s.BooleanField(required=False, allow_null=True)
    kind = s.ChoiceField(ALL_KINDS, required=False, allow_null=True, help_text="How the match came about.")
    ended_at = s.DateTimeField(required=False, allow_null=True, help_text="With its offset. Either this or date.")
    date = s.DateField(required=False, allow_null=True, help_text="Where the time is not known.")
    sequence = s.IntegerField(
        required=False, allow_null=True, min_value=-(2**53), max_value=2**53 - 1, help_text="Orders the matches of one date; 0."
    )


class ResultSent(ResultFields):
    external_id = s.CharField(max_length=200, help_text="Your own id of the match: the same again is the same match.")
    players = PlayerSent(many=True, help_text="By seat.")
    match = s.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        help_text="The match that started at your table and that this completes; its terms need not be sent again.",
    )


class MatchSent(ResultSent):
    pool = s.CharField(max_length=50)


class BatchSent(s.Serializer):
    pool = s.CharField(max_length=50)
    matches = ResultSent(many=True, help_text="1 to 1000 of them.")
    each = s.BooleanField(required=False, help_text="Store what can be stored; otherwise it is all or none.")


class StoredDifference(FieldError):
    stored = s.JSONField(help_text="null where it has none.")
    sent = s.JSONField()


class ConflictError(s.Serializer):
    code = s.CharField()
    detail = s.CharField()
    fields = StoredDifference(many=True)
    match = s.IntegerField(help_text="The match that is stored.")


class FinishedError(s.Serializer):
    code = s.CharField(help_text="over (finished otherwise), or conflict.")
    detail = s.CharField()
    fields = FieldError(many=True)
    match = s.IntegerField(help_text="The match that is stored.")


class RowError(s.Serializer):
    code = s.CharField()
    detail = s.CharField()
    fields = FieldError(many=True)
    match = s.IntegerField(allow_null=True, help_text="The match that is stored under the id, where it is in conflict.")


class BatchRow(s.Serializer):
    index = s.IntegerField(help_text="The place in the list that you sent, from 0.")
    external_id = s.CharField(allow_null=True)
    result = MatchResult(allow_null=True, help_text="null where it was not stored.")
    error = RowError(allow_null=True)


class BatchResult(s.Serializer):
    stored = s.IntegerField()
    refused = s.IntegerField()
    rows = BatchRow(many=True)


class BatchError(s.Serializer):
    code = s.CharField()
    detail = s.CharField()
    fields = FieldError(many=True, help_text="By row, as in `matches[3].length`.")


# --- Corrections ---


class ReasonSent(s.Serializer):
    reason = s.CharField(max_length=1000, help_text="Everybody can read it, on the page of each match whose numbers move.")
    preview = s.BooleanField(required=False, allow_null=True, help_text="Only show whom it moves.")
    version = s.IntegerField(required=False, allow_null=True, min_value=1, help_text="As you read it.")
    token = s.CharField(required=False, allow_null=True, help_text="Of a preview: only where the pool is still as it showed it.")


class CorrectionSent(ResultFields, ReasonSent):
    players = PlayerSent(many=True, required=False, allow_null=True, help_text="All of them, by seat.")


class MovedName(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()


class Moved(s.Serializer):
    player = MovedName()
    rating = Number(many=True, help_text="From what to what.")
    rank = s.ListField(child=s.IntegerField(allow_null=True), help_text="From what to what; null: not listed.")


class PreviewShape(s.Serializer):
    token = s.CharField()
    lines = s.IntegerField(help_text="Lines of the history that would be rewritten.")
    matches = s.IntegerField(help_text="Matches that are rated anew.")
    moved = s.IntegerField(help_text="How many players it moves.")
    moves = Moved(many=True, help_text="The first thousand of them.")


class RevisionMade(s.Serializer):
    id = s.IntegerField()
    kind = s.ChoiceField(REVISION_KIND)
    lines = s.IntegerField(help_text="Lines of the history that were rewritten.")


class Corrected(s.Serializer):
    preview = PreviewShape(allow_null=True, help_text="Where only a preview was asked for.")
    revision = RevisionMade(allow_null=True, help_text="null where nothing had to be changed.")
    result = MatchResult(allow_null=True)


class CorrectionConflict(s.Serializer):
    code = s.CharField(help_text="conflict, moved (since the preview) or open (not finished).")
    detail = s.CharField()
    fields = FieldError(many=True)
    match = s.IntegerField(required=False)
    preview = PreviewShape(required=False, help_text="How it would be now, where the pool has moved on.")


class TokenSent(s.Serializer):
    token = s.CharField(max_length=200)


class Job(s.Serializer):
    job = s.IntegerField()
    kind = s.ChoiceField(REVISION_KIND)
    status = s.ChoiceField(JOB_STATUS)
    reason = s.CharField(allow_blank=True)
    made_at = s.DateTimeField()
    matches = s.ListField(child=s.IntegerField())
    done = s.IntegerField(help_text="Matches rated so far in the present step.")
    total = s.IntegerField()
    error = s.CharField(allow_blank=True)
    preview = PreviewShape(allow_null=True)
    revision = s.IntegerField(allow_null=True)
