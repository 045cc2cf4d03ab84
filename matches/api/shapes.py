"""The shapes of what `matches.api` answers and takes, for the schema. The tests hold every answer against them."""

from __future__ import annotations

from rest_framework import serializers as s

from matches.models import CorrectionJob, Event, Match, Revision, Table
from players.api.shapes import End, Number, PlayerName
from players.systems.base import Unit

MATCH_STATUS, TABLE_STATUS, JOB_STATUS = Match.Status.values, Table.Status.values, CorrectionJob.Status.values
REVISION_KIND, EVENT_TYPE, UNIT = Revision.Kind.values, Event.Kind.values, [str(unit) for unit in Unit]
"""What these can be; the settings give each a name in the schema."""


class Reason(s.Serializer):
    code = s.CharField(help_text="For programs: unlimited, play_money, kind_not_counted, too_few_deals.")
    detail = s.CharField(help_text="In the language of Accept-Language.")


class SeatLine(s.Serializer):
    player = PlayerName()
    score = s.FloatField(allow_null=True, help_text="1, 0.5 or 0; null where it was broken off, or four played.")
    place = s.IntegerField(allow_null=True)
    before = Number(allow_null=True, help_text="null where the match does not count.")
    change = Number(allow_null=True)
    after = Number(allow_null=True)


class MatchFacts(End):
    id = s.IntegerField()
    page = s.CharField(help_text="The address of its calculation on this site.")
    pool = s.CharField()
    external_id = s.CharField(allow_null=True, help_text="Your own id of it; null for what is not from your source.")
    status = s.ChoiceField(MATCH_STATUS)
    version = s.IntegerField(help_text="Rises with every correction.")
    sequence = s.IntegerField(help_text="Orders the matches of one date whose times are not known.")
    kind = s.CharField(allow_null=True)
    length = s.IntegerField(allow_null=True)
    deals = s.IntegerField(allow_null=True)
    points = s.IntegerField(allow_null=True)
    stake = Number(allow_null=True)
    stake_hidden = s.BooleanField(help_text="Whether there is a stake that the pool does not show to you.")
    real_money = s.BooleanField(allow_null=True)
    chance = s.FloatField(allow_null=True)
    not_counted = Reason(allow_null=True, help_text="Why it moves no rating; null where it counts, or is not over.")


class MatchLine(MatchFacts):
    players = SeatLine(many=True)


class MatchList(s.Serializer):
    matches = MatchLine(many=True)
    next = s.CharField(allow_null=True, help_text="The cursor of the next page; null on the last one.")


class TermLine(s.Serializer):
    code = s.CharField()
    label = s.CharField()
    unit = s.ChoiceField(UNIT)
    value = s.FloatField()
    shown = s.CharField()
    formula = s.CharField(allow_blank=True, help_text="How the value comes about; empty where it is given.")
    inputs = s.DictField(help_text="The values that the formula names.")


class Change(s.Serializer):
    before = Number()
    change = Number()
    after = Number()


class SheetColumn(SeatLine):
    experience_before = s.IntegerField(allow_null=True)
    experience_after = s.IntegerField(allow_null=True)
    expected = s.FloatField(allow_null=True)
    published = Change(allow_null=True, help_text="What was published first, where a revision changed it.")
    terms = TermLine(many=True, help_text="The sum, line by line; the last line is the change.")
    hides_stake = s.BooleanField(help_text="Whether the lines that tell the stake are left out.")


class ChangedField(s.Serializer):
    field = s.CharField()
    before = s.CharField()
    after = s.CharField()


class RevisionLine(s.Serializer):
    kind = s.ChoiceField(REVISION_KIND)
    label = s.CharField()
    made_at = s.DateTimeField()
    reason = s.CharField(allow_blank=True)
    for_match = s.IntegerField(allow_null=True, help_text="The match for whose sake it was made, where that is another.")
    changes = ChangedField(many=True)


class SheetPage(MatchFacts):
    counted = s.BooleanField()
    explained = s.BooleanField(help_text="Whether the terms are there: not while changed rules are still to be applied.")
    players = SheetColumn(many=True)
    revisions = RevisionLine(many=True)


class TableLine(s.Serializer):
    id = s.IntegerField()
    host = PlayerName()
    rating = Number()
    experience = s.IntegerField()
    provisional = s.BooleanField()
    length = s.IntegerField(allow_null=True)
    deals = s.IntegerField(allow_null=True)
    stake = Number(allow_null=True)
    stake_hidden = s.BooleanField(help_text="Whether there is a stake that the pool does not show to you.")
    real_money = s.BooleanField(allow_null=True)
    opened_at = s.DateTimeField()


class Lobby(s.Serializer):
    pool = s.CharField()
    tables = TableLine(many=True)


class ToldSeat(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()
    score = s.FloatField(allow_null=True)
    place = s.IntegerField(allow_null=True)
    before = s.FloatField(allow_null=True, help_text="As first published; null where the match does not count.")
    change = s.FloatField(allow_null=True)
    after = s.FloatField(allow_null=True)
    experience_before = s.IntegerField(allow_null=True)
    experience_after = s.IntegerField(allow_null=True)


class ToldMatch(End):
    id = s.IntegerField()
    external_id = s.CharField(allow_null=True, help_text="Your own id of it; null for what is not from your source.")
    kind = s.CharField(allow_null=True)
    not_counted = s.CharField(allow_null=True, help_text="The code of the reason why it moves no rating.")
    players = ToldSeat(many=True)


class ToldRevision(s.Serializer):
    id = s.IntegerField()
    kind = s.ChoiceField(REVISION_KIND)
    reason = s.CharField(allow_blank=True)
    matches = s.ListField(child=s.IntegerField(), help_text="The ids of the matches that were revised.")


class ToldPlayer(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()


class ToldRating(s.Serializer):
    player = ToldPlayer()
    before = s.FloatField()
    after = s.FloatField()


class ToldTable(s.Serializer):
    id = s.IntegerField()
    external_id = s.CharField(allow_null=True, help_text="Your own id of it; null for what is not from your source.")
    status = s.ChoiceField(TABLE_STATUS)
    closed_because = s.CharField(allow_null=True, help_text="The code of the reason why it is closed.")
    match = s.IntegerField(allow_null=True, help_text="The match that has started: with the last seat.")
    players = ToldPlayer(many=True, help_text="Who sits there, or plays the match, by seat.")


class ToldEvent(s.Serializer):
    position = s.IntegerField(help_text="Its place in the feed: rises, and may leave numbers out.")
    type = s.ChoiceField(EVENT_TYPE)
    pool = s.CharField()
    at = s.DateTimeField()
    match = ToldMatch(allow_null=True, help_text="match.rated: a match that was completed, counted or not.")
    revision = ToldRevision(allow_null=True, help_text="rating.revised: by what; null where a match was entered a little late.")
    ratings = ToldRating(many=True, allow_null=True, help_text="rating.revised: whose rating is another now.")
    standings = ToldRating(many=True, allow_null=True, help_text="standing.changed: whose standing time has moved.")
    table = ToldTable(allow_null=True, help_text="table.changed: an open table, as that change left it.")


class Feed(s.Serializer):
    events = ToldEvent(many=True)
    next = s.IntegerField(help_text="What to send as `after` next time.")
    more = s.BooleanField(help_text="Whether to ask at once; else there is nothing more for now.")
