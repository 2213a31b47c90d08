"""Compares a golden with the baseline's: which of its demands got weaker."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING

from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.values.json_values import show
from evalgate.models.comparison.weakening import Weakening
from evalgate.scoring.golden.weights import CATEGORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.scoring.golden.rules import GoldenRules

SHOWN = 120
TURNS = ("golden_responses", "user_messages")
LISTS = ("required_tool_usage", "required_refusal", "required_memory_recall")


def weaker_golden(old: GoldenRules, new: GoldenRules | None) -> Iterator[Weakening]:
    """What the golden demands less, apart from score and assertions; everything if it is no golden now."""
    if new is None:
        yield Weakening("check_removed", before="golden conversation")
        return
    for name in LISTS:
        was, now = (Counter(getattr(rules.golden, name)) for rules in (old, new))
        for entry in (was - now).elements():
            yield Weakening("check_removed", before=f"{name}: {show(entry, SHOWN)}")
    for turn in range(old.turns):
        yield from _turn(old, new, turn)
    yield from _turn_weights(old, new)
    if old.is_strict and not new.is_strict:
        yield Weakening("check_loosened", before="strict: true", after="strict: false")
    for category in sorted(new.left_out - old.left_out):
        texts = f"evaluate_{category}: true", f"evaluate_{category}: false"
        yield Weakening("check_removed", before=texts[0], after=texts[1])
    for name in new.dimensions:
        before, after = old.weights.of(name), new.weights.of(name)
        if CATEGORY[name] not in old.left_out and round(after, DIGITS) < round(before, DIGITS):
            texts = f"weight: {before:g}", f"weight: {after:g}"
            yield Weakening("weight_lowered", assertion=name, before=texts[0], after=texts[1])


def assigned(rules: GoldenRules | None) -> list[Assertion]:
    """The assertions that replace formulas, without required ones: those are scenario checks as well."""
    found = () if rules is None else rules.assigned.values()
    return [each for checks in found for each in checks if not each.required]


def _turn(old: GoldenRules, new: GoldenRules, turn: int) -> Iterator[Weakening]:
    """A turn whose message or answer was removed or changed: which one is stricter is unknown."""
    for name in TURNS:
        was, now = (_text(getattr(rules.golden, name), turn) for rules in (old, new))
        if was and was != now:
            texts = [f"{name}: {show(text, SHOWN)}" if text else None for text in (was, now)]
            yield Weakening("check_replaced" if now else "check_removed", before=texts[0], after=texts[1])
            return


def _text(turns: Sequence[str], turn: int) -> str:
    return turns[turn] if turn < len(turns) else ""


def _turn_weights(old: GoldenRules, new: GoldenRules) -> Iterator[Weakening]:
    """Turns that weigh less, in absolute terms or relative to the other turns of the baseline."""
    turns = range(min(old.turns, new.turns))
    before, after = ([_weight(rules, turn) for turn in turns] for rules in (old, new))
    shares = [[each / (fsum(weights) or 1.0) for each in weights] for weights in (before, after)]
    pairs = (*zip(before, after, strict=True), *zip(*shares, strict=True))
    if any(round(now, DIGITS) < round(was, DIGITS) for was, now in pairs):
        texts = [f"turn_weights: {show(weights, SHOWN)}" for weights in (before, after)]
        yield Weakening("weight_lowered", before=texts[0], after=texts[1])


def _weight(rules: GoldenRules, turn: int) -> float:
    return rules.turn_weights[turn] if turn < len(rules.turn_weights) else 1.0
