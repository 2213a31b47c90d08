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

MAX_SHOWN = 120
TURN_LISTS = ("golden_responses", "user_messages")
REQUIREMENT_LISTS = ("required_tool_usage", "required_refusal", "required_memory_recall")


def find_golden_weakenings(baseline: GoldenRules, current: GoldenRules | None) -> Iterator[Weakening]:
    """What the golden demands less, apart from score and assertions; everything if it is no golden now."""
    if current is None:
        yield Weakening("check_removed", baseline="golden conversation")
        return
    for name in REQUIREMENT_LISTS:
        baseline_entries, current_entries = (Counter(getattr(rules.golden, name)) for rules in (baseline, current))
        for entry in (baseline_entries - current_entries).elements():
            yield Weakening("check_removed", baseline=f"{name}: {show(entry, MAX_SHOWN)}")
    for turn in range(baseline.turn_count):
        yield from _find_turn_weakening(baseline, current, turn)
    yield from _find_turn_weight_weakening(baseline, current)
    yield from _find_setting_weakenings(baseline, current)
    for category in sorted(current.left_out - baseline.left_out):
        texts = f"evaluate_{category}: true", f"evaluate_{category}: false"
        yield Weakening("check_removed", baseline=texts[0], current=texts[1])
    for name in current.dimensions:
        baseline_weight, current_weight = (
            baseline.weights.dimension_weight(name),
            current.weights.dimension_weight(name),
        )
        if CATEGORY[name] not in baseline.left_out and round(current_weight, DIGITS) < round(baseline_weight, DIGITS):
            texts = f"weight: {baseline_weight:g}", f"weight: {current_weight:g}"
            yield Weakening("weight_lowered", assertion=name, baseline=texts[0], current=texts[1])


def _find_setting_weakenings(baseline: GoldenRules, current: GoldenRules) -> Iterator[Weakening]:
    """Settings by which an issue is less severe, or a memory found in the results of other tools."""
    if baseline.is_strict and not current.is_strict:
        yield Weakening("check_loosened", baseline="strict: true", current="strict: false")
    limits = baseline.warning_threshold, current.warning_threshold
    if round(limits[1], DIGITS) < round(limits[0], DIGITS):
        texts = [f"warning_threshold: {limit:g}" for limit in limits]
        yield Weakening("check_loosened", baseline=texts[0], current=texts[1])
    if tuple(baseline.memory_tools) != tuple(current.memory_tools):
        texts = [f"memory_tools: {show(list(rules.memory_tools), MAX_SHOWN)}" for rules in (baseline, current)]
        yield Weakening("check_replaced", baseline=texts[0], current=texts[1])


def list_assigned_assertions(rules: GoldenRules | None) -> list[Assertion]:
    """The assertions that replace formulas, without required ones: those are scenario checks as well."""
    found = () if rules is None else rules.assigned.values()
    return [each for checks in found for each in checks if not each.required]


def _find_turn_weakening(baseline: GoldenRules, current: GoldenRules, turn: int) -> Iterator[Weakening]:
    """A turn whose message or answer was removed or changed: which one is stricter is unknown."""
    for name in TURN_LISTS:
        baseline_text, current_text = (_turn_text(getattr(rules.golden, name), turn) for rules in (baseline, current))
        if baseline_text and baseline_text != current_text:
            texts = [f"{name}: {show(text, MAX_SHOWN)}" if text else None for text in (baseline_text, current_text)]
            yield Weakening("check_replaced" if current_text else "check_removed", baseline=texts[0], current=texts[1])
            return


def _turn_text(turns: Sequence[str], turn: int) -> str:
    return turns[turn] if turn < len(turns) else ""


def _find_turn_weight_weakening(baseline: GoldenRules, current: GoldenRules) -> Iterator[Weakening]:
    """Turns that weigh less, in absolute terms or relative to the other turns of the baseline."""
    turns = range(min(baseline.turn_count, current.turn_count))
    baseline_weights, current_weights = ([_turn_weight(rules, turn) for turn in turns] for rules in (baseline, current))
    shares = [[each / (fsum(weights) or 1.0) for each in weights] for weights in (baseline_weights, current_weights)]
    pairs = (*zip(baseline_weights, current_weights, strict=True), *zip(*shares, strict=True))
    if any(round(current_value, DIGITS) < round(baseline_value, DIGITS) for baseline_value, current_value in pairs):
        texts = [f"turn_weights: {show(weights, MAX_SHOWN)}" for weights in (baseline_weights, current_weights)]
        yield Weakening("weight_lowered", baseline=texts[0], current=texts[1])


def _turn_weight(rules: GoldenRules, turn: int) -> float:
    return rules.turn_weights[turn] if turn < len(rules.turn_weights) else 1.0
