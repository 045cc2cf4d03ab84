"""The words for what the rating systems say in codes: refused results, bad parameters, matches that do not count, and the lines
that explain a change. Everything here is written in the reader's language.

Sentences name their values as in `%(low)s`. A code without words here is no error for the reader (he gets a general sentence),
but it fails a test, which knows every code in the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from players.formatting import TERM_DECIMALS, format_euros, format_number, shown
from players.systems.base import ALL_KINDS, Refused, Term
from players.systems.params import BadParameter

SYSTEM_LABELS: dict[str, Any] = {
    "fibs": _("FIBS"),
    "crowns_cup": _("Crowns Cup backgammon"),
    "online_backgammon": _("Online Backgammon"),
    "freewhist": _("FreeWhist"),
    "tics": _("TICS"),
}

KIND_LABELS: dict[str, Any] = {
    "matchmade": pgettext_lazy("kind of match", "Rated matchmaking"),
    "table": pgettext_lazy("kind of match", "Open table"),
    "tournament": pgettext_lazy("kind of match", "Tournament"),
    "challenge": pgettext_lazy("kind of match", "Challenge"),
    "invitation": pgettext_lazy("kind of match", "Invitation link"),
    "rematch": pgettext_lazy("kind of match", "Rematch"),
}

FIELD_LABELS: dict[str, Any] = {
    "result": pgettext_lazy("field", "Result"),
    "scores": pgettext_lazy("field", "Scores"),
    "chance": pgettext_lazy("field", "Winning chance at the break"),
    "places": pgettext_lazy("field", "Places"),
    "length": pgettext_lazy("field", "Match length"),
    "deals": pgettext_lazy("field", "Deals"),
    "points": pgettext_lazy("field", "Points won"),
    "stake": pgettext_lazy("field", "Stake"),
    "real_money": pgettext_lazy("field", "Real money"),
    "kind": pgettext_lazy("field", "Kind"),
    "players": pgettext_lazy("field", "Players"),
    "rating": pgettext_lazy("field", "Rating"),
    "experience": pgettext_lazy("field", "Experience"),
    "ended_at": pgettext_lazy("field", "End of the match"),
    "date": pgettext_lazy("field", "Date"),
    "sequence": pgettext_lazy("field", "Sequence"),
    "source": pgettext_lazy("field", "Source"),
    "external_id": pgettext_lazy("field", "Id at the source"),
    "not_counted": pgettext_lazy("field", "Counts"),
    "played_at": pgettext_lazy("field", "Time played"),
    "note": pgettext_lazy("field", "Note"),
    "evaluator": pgettext_lazy("field", "Evaluated by"),
    "decision": pgettext_lazy("field", "Reason of the decision"),
    "text": pgettext_lazy("field", "What is wrong"),
    "answer": pgettext_lazy("field", "Answer"),
}

# After "Match length: ".
REFUSALS: dict[str, Any] = {
    "needed": _("it is missing. Please fill it in."),
    "not_used": _("this pool's rating system does not use it. Leave it empty."),
    "said_twice": _("give exactly one of scores, winning chance at the break, and places."),
    "wrong_number": _("this pool's rating system takes %(needed)s of them."),
    "not_win_loss": _("must be 1 for the winner and 0 for the loser."),
    "not_win_draw_loss": _("must be 1 for the winner and 0 for the loser, or 0.5 each for a draw."),
    "not_a_number": _("must be a number."),
    "not_whole": _("must be a whole number from %(low)s to %(high)s."),
    "out_of_range": _("must be from %(low)s to %(high)s."),
    "too_high": _("must not be above %(high)s."),
    "not_an_amount": _("must be an amount in euros, such as 5 or 2.50."),
    "not_positive": _("must be above 0."),
    "too_many_decimals": _("must have at most %(decimals)s decimals."),
    "not_places": _("must be 1 to 4, each once or shared: 1, 1, 3, 4 where two share the first place (1, 1, 2, 3 will do)."),
    "not_with_length": _("only a money game has it. Leave it empty for a match with a length, or leave out the length."),
    "not_yes_or_no": _("must be yes or no."),
    "unknown": _("is not known. Give one of: %(allowed)s."),
    "too_few": _("must be at least %(lowest)s, since games with fewer are not rated in this pool."),
    "same_player": _("a player cannot play against himself or sit twice at a table. Choose different players."),
    "in_future": _("lies in the future. Check the date and the time."),
    "before_start": _("lies before the match was begun. Check the date and the time."),
    "too_early": _("must not be before %(earliest)s. Check the date."),
    "too_long": _("must have at most %(most)s characters."),
    "before_opening": _(
        "the rating that %(player)s brought along is from %(opened_on)s and has earlier matches in it already. "
        "Enter matches from that date on."
    ),
    "after_match": _(
        "match %(match)s of %(ended_on)s counts already and is earlier. An opening is from before the first counted match."
    ),
}

# Where a field needs more than the general sentence.
FIELD_REFUSALS: dict[tuple[str, str], Any] = {
    ("result", "needed"): _("it is missing. Say how the match ended."),
    ("length", "needed"): _(
        "it is missing, and unlimited play is not rated here. Give the points that the match was played to, 1 to 99."
    ),
    ("points", "needed"): _(
        "a money game, which has no match length, needs them. Give the points won (cube, gammon), or the match length."
    ),
    ("stake", "needed"): _("it is missing, and the change depends on it. Give euros per player, in a money game per point."),
    ("real_money", "needed"): _("it is missing, and only matches for real money count in this pool. Say yes or no."),
    ("kind", "needed"): _("it is missing, and not every kind counts in this pool. Say how the match came about."),
    ("deals", "needed"): _("it is missing. Give the number of deals that were played."),
}

PARAMETER_LABELS: dict[str, Any] = {
    "start": pgettext_lazy("parameter", "Start rating"),
    "factor": pgettext_lazy("parameter", "Factor of every change"),
    "spread": pgettext_lazy("parameter", "Spread of the expectation"),
    "ramp": pgettext_lazy("parameter", "Ramp of the experience factor K"),
    "ramp.highest": pgettext_lazy("parameter", "Highest K"),
    "ramp.lowest": pgettext_lazy("parameter", "Lowest K"),
    "ramp.per": pgettext_lazy("parameter", "Experience that lowers K by 1"),
    "experience_counts": pgettext_lazy("parameter", "Experience that counts for K"),
    "counted_kinds": pgettext_lazy("parameter", "Kinds that count"),
    "real_money_only": pgettext_lazy("parameter", "Only real money counts"),
    "money_game_experience": pgettext_lazy("parameter", "Experience from a money game"),
    "cap": pgettext_lazy("parameter", "Cap of a change"),
    "standing_floor": pgettext_lazy("parameter", "Lowest standing"),
    "decay_after_days": pgettext_lazy("parameter", "Days before the standing decays"),
    "decay_per_day": pgettext_lazy("parameter", "Decay a day"),
    "place_scores": pgettext_lazy("parameter", "Scores of the places"),
    "deal_steps": pgettext_lazy("parameter", "Factor by deals"),
    "kc_lowest": pgettext_lazy("parameter", "Lowest Kc"),
    "kc_span": pgettext_lazy("parameter", "Span of Kc"),
    "kc_halving": pgettext_lazy("parameter", "Games that halve the span of Kc"),
    "curve_spread": pgettext_lazy("parameter", "Spread of the place curve"),
    "curve_exponent": pgettext_lazy("parameter", "Exponent of the place curve"),
    "k": pgettext_lazy("parameter", "K"),
    "scale": pgettext_lazy("parameter", "Scale of the expectation"),
}

PARAMETER_CHOICES: dict[str, Any] = {
    "before": pgettext_lazy("experience that counts", "that before the match"),
    "after": pgettext_lazy("experience that counts", "that with the match"),
}

# After "Start rating (start): ".
BAD_PARAMETERS: dict[str, Any] = {
    "unknown": _("there is no such parameter. Known: %(known)s."),
    "not_a_number": _("must be a number."),
    "out_of_range": _("must be from %(low)s to %(high)s."),
    "not_whole": _("must be a whole number."),
    "not_a_flag": _("must be true or false."),
    "not_a_choice": _("must be one of: %(allowed)s."),
    "not_choices": _("must be a list with one or more of these, each once: %(allowed)s."),
    "not_numbers": _("must be a list of %(count)s numbers."),
    "not_steps": _("must be a list of pairs: from this number on, this value; such as [[8, 20], [12, 33]]."),
    "not_ascending": _("the numbers must ascend and the values must not fall. Put the pairs in order."),
    "not_descending": _("must not rise from one place to the next, and the first must be above the last."),
    "not_an_object": _("must be an object with names and values."),
    "above": _("must not be above “%(other)s”."),
}

REASONS: dict[str, Any] = {
    "unlimited": _("Unlimited play, which has no match length, is not rated in this pool."),
    "play_money": _("Only matches for real money count in this pool."),
    "kind_not_counted": _("Matches of this kind do not count in this pool."),
    "too_few_deals": _("It had too few deals: this pool rates games of %(lowest)s deals or more."),
}
KIND_REASONS: dict[str, Any] = {
    "matchmade": _("Matches from rated matchmaking do not count in this pool."),
    "table": _("Matches from open tables do not count in this pool."),
    "tournament": _("Tournament matches do not count in this pool."),
    "challenge": _("Challenges do not count in this pool."),
    "invitation": _("Matches by invitation link do not count in this pool."),
    "rematch": _("Rematches do not count in this pool."),
}


def system_label(key: str) -> str:
    return str(SYSTEM_LABELS.get(key, key))


def kind_label(kind: str) -> str:
    """How a match came about, in words; "" is "not stated"."""
    return str(KIND_LABELS.get(kind, kind)) if kind else gettext("Not stated")


def field_label(name: str) -> str:
    return str(FIELD_LABELS.get(name, name))


def parameter_label(name: str) -> str:
    return str(PARAMETER_LABELS.get(name, name))


def parameter_value(name: str, value: Any) -> str:
    """The value of a parameter as it is stored (JSON), in words."""
    if value is None:
        return gettext("off")
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, (int, float)):
        return plain(value)
    if isinstance(value, str):
        return choice_label(value)
    if isinstance(value, Mapping):
        # PostgreSQL keeps the keys of JSON in an order of its own.
        keys = sorted(value, key=lambda key: (*PARAMETER_LABELS, f"{name}.{key}").index(f"{name}.{key}"))
        return ", ".join(f"{parameter_label(f'{name}.{key}')} {parameter_value(key, value[key])}" for key in keys)
    if value and isinstance(value[0], (list, tuple)):
        return "; ".join(f"{plain(start)}: {plain(step)}" for start, step in value)
    return "; ".join(parameter_value(name, one) for one in value)


def plain(value: float) -> str:
    """A parameter with all its digits, in the reader's way of writing it."""
    return format_number(value, 17)


def choice_label(value: str) -> str:
    """A value that a parameter is chosen from."""
    return str(PARAMETER_CHOICES.get(value) or KIND_LABELS.get(value, value))


def bad_parameter_rule(bad: BadParameter) -> str:
    """Why a parameter is not accepted, to be written beside its field."""
    values = dict(bad.values)
    if "other" in values:
        prefix = bad.name.rpartition(".")[0]
        values["other"] = parameter_label(f"{prefix}.{values['other']}".lstrip("."))
    return _fill(BAD_PARAMETERS.get(bad.code), values) or gettext("is not accepted. Please check it.")


def refusal(refused: Refused) -> str:
    """Why a result was refused: the field, the rule and how to go on, in one or two sentences."""
    return f"{field_label(refused.field)}: {refusal_rule(refused)}"


def refusal_rule(refused: Refused) -> str:
    """The same without the field's name, to be written beside the field."""
    sentence = FIELD_REFUSALS.get((refused.field, refused.code)) or REFUSALS.get(refused.code)
    return _fill(sentence, {"allowed": ", ".join(ALL_KINDS), **refused.values}) or gettext("is not accepted. Please check it.")


def bad_parameter(bad: BadParameter) -> str:
    """Why a parameter is not accepted, with its label and its name."""
    rule, label = bad_parameter_rule(bad), parameter_label(bad.name)
    return f"{bad.name}: {rule}" if label == bad.name else f"{label} ({bad.name}): {rule}"


def reason(code: str, values: Mapping[str, object] | None = None) -> str:
    """Why a match does not count, as a sentence. Without values it is a more general one."""
    values = values or {}
    sentence = KIND_REASONS.get(str(values.get("kind"))) if code == "kind_not_counted" else None
    return _fill(sentence or REASONS.get(code), values) or gettext("This match does not count in this pool.")


def _fill(sentence: Any, values: Mapping[str, object]) -> str:
    """The sentence with its values; "" where there is no sentence or a value is missing."""
    if not sentence:
        return ""
    try:
        return str(sentence) % {name: _value(value) for name, value in values.items()}
    except KeyError:
        return ""


def _value(value: object) -> str:
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, Decimal):
        return format_euros(value)
    return str(value)


# --- The lines that explain a change ---

Inputs = Mapping[str, Any]


class Digits:
    """How the numbers of a sum are written: with at most so many decimals."""

    def __init__(self, decimals: int = TERM_DECIMALS) -> None:
        self.decimals = decimals

    def number(self, value: float) -> str:
        return format_number(value, self.decimals)

    def operand(self, value: float) -> str:
        """A number inside a sum, in brackets where it is negative."""
        text = self.number(value)
        return f"({text})" if value < 0 else text


Formula = Callable[[Inputs, Digits], str]


def _product(inputs: Inputs, digits: Digits) -> str:
    """The inputs multiplied; a score and an expected score come last, as their difference."""
    factors = [digits.operand(value) for name, value in inputs.items() if name not in ("score", "expected")]
    if "expected" in inputs:
        factors.append(f"({digits.number(inputs['score'])} − {digits.number(inputs['expected'])})")
    return " × ".join(factors)


def _underdog(inputs: Inputs, digits: Digits) -> str:
    root = f" × {digits.number(inputs['sqrt_length'])}" if "sqrt_length" in inputs else ""
    exponent = f"{digits.number(inputs['rating_difference'])}{root} / {digits.number(inputs['spread'])}"
    return f"1 / (10^({exponent}) + 1)"


def _curve_bend(inputs: Inputs, digits: Digits) -> str:
    difference, spread = digits.number(inputs["difference"]), digits.number(inputs["spread"])
    return f"(1 + |{difference}| / {spread})^{digits.number(inputs['exponent'])}"


def _place_chance(inputs: Inputs, digits: Digits) -> str:
    upper, bend = int(inputs["upper"]), digits.number(inputs["bend"])
    first = "1" if upper == 4 else f"({upper}/4)^{bend}"
    return first if upper == 1 else f"{first} − ({upper - 1}/4)^{bend}"


def _sum(inputs: Inputs, prefix: str, digits: Digits) -> str:
    return " + ".join(digits.operand(value) for name, value in inputs.items() if name.startswith(prefix))


def _expected_by_places(inputs: Inputs, digits: Digits) -> str:
    return " + ".join(f"{digits.number(inputs[f'chance_{n}'])} × {digits.number(inputs[f'score_{n}'])}" for n in range(1, 5))


def _shared_score(inputs: Inputs, digits: Digits) -> str:
    return f"({_sum(inputs, 'score_', digits)}) / {len(inputs)}"


def _table_mean(inputs: Inputs, digits: Digits) -> str:
    return f"({_sum(inputs, 'rating_', digits)}) / {len(inputs)}"


def _change(inputs: Inputs, digits: Digits) -> str:
    if "cap" in inputs:
        return gettext("held at ±%(cap)s") % {"cap": digits.number(inputs["cap"])}
    return _product(inputs, digits)


def _formula(pattern: str) -> Formula:
    """A formula whose inputs are written by name in braces."""

    def fill(inputs: Inputs, digits: Digits) -> str:
        return pattern.format_map({name: digits.operand(value) for name, value in inputs.items()})

    return fill


def _nothing(inputs: Inputs, digits: Digits) -> str:
    return ""


def _money_game_stake(inputs: Inputs, digits: Digits) -> str:
    return f"{format_euros(inputs['stake_per_point'])} × {digits.number(inputs['points'])}"


TERMS: dict[str, tuple[Any, Formula]] = {
    "own_rating": (_("Rating before"), _nothing),
    "opponent_rating": (_("Opponent's rating"), _nothing),
    "rating_difference": (_("D, difference of the ratings"), _formula("|{own_rating} − {opponent_rating}|")),
    "sqrt_length": (_("Square root of the match length"), _formula("√{length}")),
    "money_game_length": (_("Money game: rated as a 1-point match"), _nothing),
    "underdog_chance": (_("P, winning chance of the lower rated player"), _underdog),
    "expected_favourite": (_("E, expected score of the higher rated player"), _formula("1 − {underdog_chance}")),
    "expected_underdog": (_("E, expected score of the lower rated player"), _formula("{underdog_chance}")),
    "score": (_("S, score"), _nothing),
    "chance_at_break": (_("S, score: winning chance when the match was broken off"), _nothing),
    "other_chance_at_break": (
        _("S, score: winning chance when the match was broken off"),
        _formula("1 − {chance_at_break}"),
    ),
    "base_change": (_("Change before the factors below"), _product),
    "stake": (_("Stake"), _nothing),
    "money_game_stake": (_("Stake: per point, times the points won"), _money_game_stake),
    "stake_factor": (_("Stake factor"), _formula("log10(1 + {stake})")),
    "experience_before": (_("x, experience before"), _nothing),
    "experience_after": (_("x, experience with this match"), _formula("{experience_before} + {experience_gained}")),
    "k_ramp": (_("K, experience factor"), _formula("max({lowest}, {highest} − {experience} / {per})")),
    "k_off": (_("K: experience makes no difference in this pool"), _nothing),
    "k_constant": (_("K, the same for everybody"), _nothing),
    "uncapped_change": (_("Change before the cap"), _product),
    "cap": (_("Cap: the most that one match can move a rating"), _nothing),
    "table_mean": (_("Mean rating of the table"), _table_mean),
    "difference_to_mean": (_("d, difference to the mean"), _formula("{own_rating} − {table_mean}")),
    "curve_bend": (_("a, bend of the place curve"), _curve_bend),
    "place_chance": (_("Chance of place %(place)s"), _place_chance),
    "expected_by_places": (_("V, expected score"), _expected_by_places),
    "place": (_("Place"), _nothing),
    "place_score": (_("S, score of place %(place)s"), _nothing),
    "shared_place": (_("Place: shares places %(first)s to %(last)s"), _nothing),
    "shared_score": (_("S, score: mean of the shared places"), _shared_score),
    "k_deals": (_("Kl, factor for %(deals)s deals (from %(from)s on)"), _nothing),
    "k_games": (_("Kc, experience factor"), _formula("{lowest} + {span} / (1 + {experience} / {halving})")),
    "change": (pgettext_lazy("of a rating", "Change"), _change),
}
SCORE_LABELS: dict[float, Any] = {1.0: _("S, score: won"), 0.5: _("S, score: drawn"), 0.0: _("S, score: lost")}


def term_label(term: Term) -> str:
    """What a line of an explanation is."""
    if term.code not in TERMS:
        return term.code
    label = SCORE_LABELS.get(term.value) if term.code == "score" else None
    return _fill(label or TERMS[term.code][0], term.inputs)


def term_formula(term: Term, decimals: int, digits: int = TERM_DECIMALS) -> str:
    """How the line's value is computed, with its inputs filled in to so many `digits` after the point; "" where it is given.

    Where the value is shown with the pool's `decimals` and these leave something out, the formula ends with the full value.
    """
    if term.code not in TERMS:
        return ""
    written = Digits(digits)
    text = TERMS[term.code][1](term.inputs, written)
    if text and term.code == "change" and shown(term.value, decimals) != shown(term.value, digits):
        return f"{text} = {written.number(term.value)}"
    return text
