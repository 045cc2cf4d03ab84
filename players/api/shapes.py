"""The shapes of what `players.api.answers` makes, for the schema. The tests hold every answer against them."""

from __future__ import annotations

from rest_framework import serializers as s


class Number(s.Serializer):
    value = s.FloatField(help_text="Every digit of the stored double.")
    shown = s.CharField(help_text="As the pages show it, in the language of Accept-Language.")


class PlayerName(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()
    page = s.CharField(help_text="The address of his page on this site.")


class End(s.Serializer):
    """When a match ended: exactly one of the two, or neither where it has not ended."""

    ended_at = s.DateTimeField(allow_null=True, help_text="In UTC.")
    date = s.DateField(allow_null=True, help_text="Where only the date is known.")


class PoolLine(s.Serializer):
    slug = s.CharField(help_text="Names the pool everywhere in this API.")
    name = s.CharField()
    game = s.CharField()
    system = s.CharField(help_text="The rating system: fibs, crowns_cup, online_backgammon, freewhist, tics.")
    system_name = s.CharField()
    page = s.CharField()
    players = s.IntegerField(help_text="How many the ranking lists.")


TierLine = type(
    "TierLine",
    (s.Serializer,),
    {"name": s.CharField(), "from": Number(help_text="The standing from which it is reached."), "decays": s.BooleanField()},
)


class PoolPage(PoolLine):
    seats = s.IntegerField()
    draws = s.BooleanField()
    start = Number(help_text="The rating of a new player.")
    shown_decimals = s.IntegerField()
    provisional_below = s.IntegerField(allow_null=True, help_text="Experience; null where nobody is provisional.")
    result_fields = s.ListField(child=s.CharField(), help_text="What a result can say here; anything else is refused.")
    needed_fields = s.ListField(child=s.CharField(), help_text="Without which nobody could tell whether a match counts.")
    parameters = s.DictField(help_text="The constants of the rating system here.")
    tiers = TierLine(many=True)


class PoolList(s.Serializer):
    pools = PoolLine(many=True)


class PlayerList(s.Serializer):
    players = PlayerName(many=True)
    next = s.CharField(allow_null=True, help_text="The cursor of the next page; null on the last one.")


class RatingLine(s.Serializer):
    pool = s.CharField()
    rating = Number()
    standing = Number(help_text="The rating, less what time away costs where a pool has that.")
    tier = s.CharField(allow_null=True)
    experience = s.IntegerField()
    provisional = s.BooleanField()
    matches = s.IntegerField(help_text="Counted ones.")
    peak = Number()
    opening = Number()
    last_match = s.IntegerField(allow_null=True, help_text="The last counted match.")
    last = End()


class PlayerPage(PlayerName):
    ratings = RatingLine(many=True, help_text="In every pool where he has one.")


class RecordLine(s.Serializer):
    won = s.IntegerField()
    drawn = s.IntegerField()
    lost = s.IntegerField()
    broken_off = s.IntegerField()
    places = s.ListField(child=s.IntegerField(), help_text="First to fourth places, where four play.")


class RatingPage(RatingLine):
    player = PlayerName()
    rank = s.IntegerField(allow_null=True, help_text="null before the first counted match.")
    of = s.IntegerField(allow_null=True, help_text="How many are listed.")
    better_than = s.FloatField(allow_null=True, help_text="The share of the listed who stand lower, from 0 to 1.")
    record = RecordLine()


class HistoryLine(End):
    match = s.IntegerField()
    before = Number()
    change = Number()
    after = Number()
    experience_before = s.IntegerField()
    experience_after = s.IntegerField()
    score = s.FloatField()
    expected = s.FloatField()


class HistoryList(s.Serializer):
    player = PlayerName()
    pool = s.CharField()
    changes = HistoryLine(many=True)
    next = s.CharField(allow_null=True, help_text="The cursor of the next page; null on the last one.")


class RankedLine(s.Serializer):
    rank = s.IntegerField(help_text="Equal shown standings share one.")
    player = PlayerName()
    standing = Number()
    rating = Number()
    tier = s.CharField(allow_null=True)
    experience = s.IntegerField()
    provisional = s.BooleanField()
    matches = s.IntegerField()


class RankingPage(s.Serializer):
    pool = s.CharField()
    listed = s.IntegerField(help_text="How many players the ranking lists.")
    start = s.IntegerField(help_text="The position of the first line, from 0.")
    page = s.IntegerField(allow_null=True, help_text="From 1; null around a player.")
    pages = s.IntegerField(allow_null=True)
    lines = RankedLine(many=True)


class SimulatedSeat(s.Serializer):
    player = PlayerName(allow_null=True)
    rating = Number()
    experience = s.IntegerField()
    provisional = s.BooleanField()
    expected = s.FloatField(help_text="The expected score, from 0 to 1: between two without draws, the chance to win.")
    k = s.FloatField(allow_null=True, help_text="The factor that the experience gives; null where four play.")


class SimulatedOutcome(s.Serializer):
    scores = s.ListField(child=s.FloatField(), help_text="By seat: 1 won, 0.5 drawn, 0 lost, or the chance at the break.")
    changes = Number(many=True, help_text="By seat.")


class SimulatedPlace(s.Serializer):
    place = s.IntegerField()
    chance = s.FloatField()
    change = Number()


class Simulation(s.Serializer):
    pool = s.CharField()
    players = SimulatedSeat(many=True)
    outcomes = SimulatedOutcome(many=True, help_text="Between two: player 1 wins, (they draw), player 2 wins.")
    places = s.ListField(child=SimulatedPlace(many=True), help_text="Where four play: by seat, then by place.")


class SeatSent(s.Serializer):
    rating = s.FloatField(min_value=-100_000, max_value=100_000, help_text="Points.")
    experience = s.IntegerField(required=False, min_value=0, max_value=2**31 - 1, help_text="0 where it is left out.")


class SimulationSent(s.Serializer):
    players = SeatSent(many=True, help_text="One for each seat.")
    length = s.IntegerField(required=False, allow_null=True, min_value=1, max_value=99, help_text="Points; none: a money game.")
    stake = s.FloatField(
        required=False, allow_null=True, min_value=0.01, help_text="Euros per player; in a money game per point."
    )
    points = s.IntegerField(required=False, allow_null=True, min_value=1, max_value=9999, help_text="Won in a money game.")
    deals = s.IntegerField(required=False, allow_null=True, min_value=1, max_value=999)
    chance = s.FloatField(
        required=False, allow_null=True, min_value=0, max_value=1, help_text="Player 1's, where the match is broken off."
    )
