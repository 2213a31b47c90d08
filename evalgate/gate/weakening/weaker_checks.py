"""Compares the checks of a scenario, and the demands of a golden, with what became of them since the baseline."""

from __future__ import annotations

import operator
from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.gate.weakening.implication import Requirement, find_losses, is_implied, parse_requirement
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.values.json_values import show
from evalgate.models.comparison.weakening import Weakening
from evalgate.scoring.golden.rules import CATEGORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.comparison.weakening import WeakeningKind
    from evalgate.scoring.golden.rules import GoldenRules

MAX_SHOWN = 120
MOST_COMPARED = 200
"""Checks of a scenario that are compared with one another; the rest only by their text as written."""


class WeakenedCheck(NamedTuple):
    """One way in which a scenario's checks demand less; `current` is the check now, if it still exists."""

    kind: WeakeningKind
    baseline: Assertion
    current: Assertion | None
    before: str
    after: str | None


class _Check(NamedTuple):
    assertion: Assertion
    requirement: Requirement


class _Pair(NamedTuple):
    baseline: _Check
    current: _Check


def find_weakened_checks(baseline: Sequence[Assertion], current: Sequence[Assertion]) -> Iterator[WeakenedCheck]:
    """What the current checks demand less than the baseline's, in the order of the baseline."""
    if _is_unchanged(baseline, current):
        return
    baseline_checks, current_checks = _parse_checks(baseline), _parse_checks(current)
    pairs, unpaired = _pair_checks(baseline_checks, current_checks)
    for check in baseline_checks:
        if check in unpaired:
            if check.requirement.counts and not _is_repeated(check, current_checks):
                yield WeakenedCheck("check_removed", check.assertion, None, _show_check(check), None)
        else:
            yield from _find_pair_weakenings(next(pair for pair in pairs if pair.baseline is check))
    yield from _find_lowered_weights(pairs)


def _is_unchanged(baseline: Sequence[Assertion], current: Sequence[Assertion]) -> bool:
    """Whether every check is still there unchanged, the common case."""
    return len(baseline) <= len(current) and all(
        baseline_assertion is current_assertion or baseline_assertion.written == current_assertion.written
        for baseline_assertion, current_assertion in zip(baseline, current, strict=False)
    )


def _parse_checks(assertions: Sequence[Assertion]) -> list[_Check]:
    return [
        _Check(each, requirement) for each in assertions if (requirement := parse_requirement(each.written)) is not None
    ]


def _pair_checks(baseline: Sequence[_Check], current: Sequence[_Check]) -> tuple[list[_Pair], list[_Check]]:
    """Pairs, the most similar first, and the baseline's checks that are left over."""
    pairs, available = list[_Pair](), list(current)
    unpaired = list(baseline)
    for is_similar in (operator.eq, _is_fully_implied, _has_same_name, _is_comparable, _has_same_type):
        rest = []
        for check in unpaired:
            counterpart = next(
                (each for each in available[:MOST_COMPARED] if is_similar(check.requirement, each.requirement)), None
            )
            if counterpart is None:
                rest.append(check)
            else:
                available.remove(counterpart)
                pairs.append(_Pair(check, counterpart))
        unpaired = rest
    return pairs, unpaired


def _is_fully_implied(baseline: Requirement, current: Requirement) -> bool:
    return is_implied(baseline, current) and _is_as_required(baseline, current) and current.weight >= baseline.weight


_REQUIRED_ORDER = (False, True, "always")


def _is_as_required(baseline: Requirement, current: Requirement) -> bool:
    return _REQUIRED_ORDER.index(current.required) >= _REQUIRED_ORDER.index(baseline.required)


def _has_same_name(baseline: Requirement, current: Requirement) -> bool:
    return baseline.type == current.type and baseline.name is not None and baseline.name == current.name


def _is_comparable(baseline: Requirement, current: Requirement) -> bool:
    """The same check with a number or a list changed."""
    return baseline.type == current.type and all(not loss.is_incomparable for loss in find_losses(baseline, current))


def _has_same_type(baseline: Requirement, current: Requirement) -> bool:
    return baseline.type == current.type


def _is_repeated(check: _Check, current_checks: Sequence[_Check]) -> bool:
    """Whether another check demands the same, so that only a repetition is lost."""
    requirement = check.requirement
    return any(
        is_implied(requirement, each.requirement)
        and _is_as_required(requirement, each.requirement)
        and each.requirement.counts
        for each in current_checks[:MOST_COMPARED]
    )


def _find_pair_weakenings(pair: _Pair) -> Iterator[WeakenedCheck]:
    baseline, current = pair.baseline.requirement, pair.current.requirement
    baseline_assertion, current_assertion = pair.baseline.assertion, pair.current.assertion
    if not baseline.counts:
        return
    found = find_losses(baseline, current)
    if any(loss.is_incomparable for loss in found):
        yield WeakenedCheck(
            "check_replaced",
            baseline_assertion,
            current_assertion,
            _show_check(pair.baseline),
            _show_check(pair.current),
        )
    else:
        for loss in found:
            before, after = (f"{loss.field}: {show(value, MAX_SHOWN)}" for value in (loss.before, loss.after))
            yield WeakenedCheck("check_loosened", baseline_assertion, current_assertion, before, after)
    if not _is_as_required(baseline, current):
        texts = (f"required: {str(each.required).lower()}" for each in (baseline, current))
        kind: WeakeningKind = "check_loosened" if current.required else "check_optional"
        yield WeakenedCheck(kind, baseline_assertion, current_assertion, *texts)
    if current.is_skippable and not baseline.is_skippable:
        yield WeakenedCheck(
            "check_skippable", baseline_assertion, current_assertion, "on_missing: fail", "on_missing: skip"
        )


def _find_lowered_weights(pairs: Sequence[_Pair]) -> Iterator[WeakenedCheck]:
    """Weights that fell, also relative to the other checks: halving all of them is no change."""
    baseline_total = fsum(pair.baseline.requirement.weight for pair in pairs)
    current_total = fsum(pair.current.requirement.weight for pair in pairs)
    for pair in pairs:
        old, new = pair.baseline.requirement.weight, pair.current.requirement.weight
        shares = (new / current_total if current_total else 0.0), (old / baseline_total if baseline_total else 0.0)
        if new < old and round(shares[0], DIGITS) < round(shares[1], DIGITS):
            texts = f"weight: {old:g}", f"weight: {new:g}"
            yield WeakenedCheck("weight_lowered", pair.baseline.assertion, pair.current.assertion, *texts)


def _show_check(check: _Check) -> str:
    return show(check.assertion.written, MAX_SHOWN)


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
        old, new = (rules.weights.dimension_weight(name) for rules in (baseline, current))
        if CATEGORY[name] not in baseline.left_out and round(new, DIGITS) < round(old, DIGITS):
            texts = f"weight: {old:g}", f"weight: {new:g}"
            yield Weakening("weight_lowered", assertion=name, baseline=texts[0], current=texts[1])


def _find_setting_weakenings(baseline: GoldenRules, current: GoldenRules) -> Iterator[Weakening]:
    """Settings by which an issue is less severe, another agent is judged, or a memory found in other tools' results."""
    if baseline.is_strict and not current.is_strict:
        yield Weakening("check_loosened", baseline="strict: true", current="strict: false")
    limits = baseline.warning_threshold, current.warning_threshold
    if round(limits[1], DIGITS) < round(limits[0], DIGITS):
        texts = [f"warning_threshold: {limit:g}" for limit in limits]
        yield Weakening("check_loosened", baseline=texts[0], current=texts[1])
    if baseline.agent != current.agent:
        yield Weakening(
            "check_replaced", baseline=f"agent: {show(baseline.agent)}", current=f"agent: {show(current.agent)}"
        )
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
