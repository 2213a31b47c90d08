"""Finds where today's suites and policies demand less than those that the baseline was judged by.

An expectation counts as kept only if the new one is clearly at least as strict. If that is unknown, the
expectation is reported as replaced.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.errors import Location
from evalgate.gate.common.scenarios import ScenarioIndex, covers
from evalgate.gate.weakening.weaker_checks import find_weakened_checks
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.tool_words import find_kind
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.comparison.weakening import STRICTNESS, Weakening
from evalgate.suite.policy import build_effective_policy
from evalgate.suite.suite_file import PolicyEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.weakening import WeakeningKind
    from evalgate.scoring.scenario import TrialRules
    from evalgate.suite.models import Configuration, Scenario, Suite
    from evalgate.suite.policy import FreshnessPolicy, Policy, RegressionPolicy, VariantComparison


class _ScenarioWeakening(NamedTuple):
    """A weakening, and the key by which the same one in other scenarios of the suite is recognised."""

    weakening: Weakening
    group_key: tuple[object, ...]


def find_weakenings(
    baseline: Configuration, current: Configuration, compared_ids: Mapping[str, Sequence[str]]
) -> list[Weakening]:
    """What the scenarios and policies of `current` demand less, in the order of `baseline`.

    `compared_ids` are the ids of scenarios, by suite, that both sides judged, for those that globs found. For
    what one side lacks entirely, see `removed_scenarios.find_removed_scenarios`.
    """
    current_suites = {suite.name: suite for suite in current.suites}
    found = _find_policy_weakenings(baseline, current)
    for suite in baseline.suites:
        if suite.name in current_suites:
            each = _find_suite_weakenings(suite, current_suites[suite.name], compared_ids.get(suite.name, ()))
            found += _group_weakenings(each, current_suites[suite.name])
            found += _find_added_lookups(suite, current_suites[suite.name])
            found += _find_quarantine_weakenings(suite, current_suites[suite.name])
    return found


def _find_added_lookups(baseline: Suite, current: Suite) -> Iterator[Weakening]:
    """Tools that the baseline's suite did not list as look-ups, or listed as changing something."""
    old, new = baseline.tool_kinds, current.tool_kinds
    if old == new:
        return
    added = [each for each in new.lookups if not _keeps(each, old.lookups, find_kind(each, old) is True)]
    lost = [each for each in old.changing if not _keeps(each, new.changing, find_kind(each, new) is False)]
    sides = (("lookups", None, added), ("changing", [each for each in lost if each not in added], None))
    for name, before, after in sides:
        if before or after:
            texts = [f"tools.{name}: {', '.join(each or ('not listed',))}" for each in (before, after)]
            where = Location(current.path)
            yield Weakening("lookup_added", current.name, baseline=texts[0], current=texts[1], location=where)


def _keeps(tool: str, listed: Sequence[str], is_alike: bool) -> bool:  # noqa: FBT001
    """Whether a list has a glob at least as wide, or for a whole name it `is_alike` on both sides."""
    return any(matches_id(each, tool) for each in listed) if "*" in tool else is_alike


def _find_quarantine_weakenings(baseline: Suite, current: Suite) -> Iterator[Weakening]:
    """Quarantines that the baseline's suite did not have, or not for as long."""
    for each in current.quarantine:
        if any(covers(known_quarantine, each) for known_quarantine in baseline.quarantine):
            continue
        same = [
            similar
            for similar in baseline.quarantine
            if (similar.scenario, similar.variant) == (each.scenario, each.variant)
        ]
        until = max((similar.until for similar in same), default=None)
        yield Weakening(
            "quarantine_added" if until is None else "quarantine_extended",
            *(current.name, each.scenario, each.variant),
            baseline=None if until is None else f"until: {until.isoformat()}",
            current=f"until: {each.until.isoformat()}",
            location=each.location,
        )


def _find_policy_weakenings(baseline: Configuration, current: Configuration) -> list[Weakening]:
    """Weakenings of the project's policy, then those of suite policies that the project's does not share."""
    entry = PolicyEntry.from_defaults()
    shared = list(find_relaxations(*(build_effective_policy(entry, each.policy, None) for each in (baseline, current))))
    found = list(shared)
    current_suites = {suite.name: suite for suite in current.suites}
    for suite in baseline.suites:
        if suite.name not in current_suites:
            continue
        baseline_policy = build_effective_policy(suite.policy, baseline.policy, None)
        current_policy = build_effective_policy(current_suites[suite.name].policy, current.policy, None)
        location = Location(current_suites[suite.name].path)
        found += [
            each._replace(suite=suite.name, location=location)
            for each in find_relaxations(baseline_policy, current_policy)
            if each not in shared
        ]
    return found


def _find_suite_weakenings(
    baseline: Suite, current: Suite, compared_ids: Sequence[str]
) -> Iterator[_ScenarioWeakening]:
    """Compares every entry that judged an id with the entry that judges it now; each pair once."""
    baseline_index, current_index = ScenarioIndex(baseline), ScenarioIndex(current)
    seen: set[tuple[int, int]] = set()
    for id_ in dict.fromkeys((*baseline_index.ids(), *compared_ids)):
        current_scenarios = current_index.find_scenarios(id_)
        for variant, baseline_scenario in baseline_index.find_scenarios(id_).items():
            current_scenario = current_scenarios.get(variant)
            if current_scenario is not None and (id(baseline_scenario), id(current_scenario)) not in seen:
                seen.add((id(baseline_scenario), id(current_scenario)))
                shown_id = id_ if baseline_scenario.id != current_scenario.id else baseline_scenario.id
                yield from _find_scenario_weakenings(
                    ScenarioKey(baseline.name, shown_id, variant), baseline_scenario, current_scenario
                )


def _find_scenario_weakenings(key: ScenarioKey, baseline: Scenario, current: Scenario) -> Iterator[_ScenarioWeakening]:
    location = current.location
    for weakening in _find_rule_weakenings(baseline, current):
        each = weakening._replace(suite=key.suite, scenario=key.id, variant=key.variant, location=location)
        yield _ScenarioWeakening(each, (each.kind, each.baseline, each.current))
    baseline_checks, current_checks = baseline.assertions, current.assertions
    if baseline_checks is current_checks:
        return
    if baseline.golden is not None:
        from evalgate.gate.weakening.weaker_checks import find_golden_weakenings, list_assigned_assertions

        for weakening in find_golden_weakenings(baseline.golden, current.golden):
            each = weakening._replace(suite=key.suite, scenario=key.id, variant=key.variant, location=location)
            yield _ScenarioWeakening(each, (each.kind, each.assertion, each.baseline, each.current))
        baseline_checks, current_checks = (
            [*baseline_checks, *list_assigned_assertions(baseline.golden)],
            [*current_checks, *list_assigned_assertions(current.golden)],
        )
    for lost in find_weakened_checks(baseline_checks, current_checks):
        shown_check = lost.current or lost.baseline
        check_location = lost.current.location if lost.current is not None else location
        weakened = Weakening(lost.kind, *key, shown_check.name, lost.before, lost.after, check_location)
        yield _ScenarioWeakening(weakened, (lost.kind, id(lost.baseline), id(lost.current), lost.before, lost.after))


def _find_rule_weakenings(baseline: Scenario, current: Scenario) -> Iterator[Weakening]:
    old, new = baseline.rules, current.rules
    if round(current.threshold, DIGITS) < round(baseline.threshold, DIGITS):
        yield _build_weakening("threshold_lowered", "threshold", baseline.threshold, current.threshold)
    if new.optional and not old.optional:
        yield _build_weakening("scenario_optional", "optional", "false", "true")
    if new.allow_errors and not old.allow_errors:
        yield _build_weakening("errors_allowed", "allow_errors", "false", "true")
    if old.run_status == "ok" and new.run_status == "any":
        yield _build_weakening("run_status_widened", "run_status", "ok", "any")
    if added := [name for name in new.opaque if not any(matches_id(each, name) for each in old.opaque)]:
        yield _build_weakening("opaque_added", "opaque", "not listed", ", ".join(added))
    if new.min < old.min:
        yield _build_weakening("trials_lowered", "trials.min", old.min, new.min)
    if old.min_pass_rate is not None and (new.min_pass_rate or 0.0) < old.min_pass_rate:
        yield _build_weakening("trials_lowered", "trials.min_pass_rate", old.min_pass_rate, new.min_pass_rate)
    if old.min_pass_k is not None and _pass_rate(new.min_pass_k) < _pass_rate(old.min_pass_k):
        yield _build_weakening("trials_lowered", "trials.min_pass_k", _format_pass_k(old), _format_pass_k(new))
    if _may_fail_required(baseline, current):
        is_rate = new.min_pass_rate is not None
        name, demand = ("min_pass_rate", new.min_pass_rate) if is_rate else ("min_pass_k", _format_pass_k(new))
        now = f"trials.{name}: {_format_value(demand)}"
        yield Weakening("trials_lowered", baseline="required in every trial", current=now)


def _may_fail_required(baseline: Scenario, current: Scenario) -> bool:
    """Whether required checks had to pass in every trial and, by a pass rate, no longer have to."""
    rules = current.rules
    return (
        rules.may_fail_trials
        and not baseline.rules.has_pass_rate
        and any(each.required for each in baseline.assertions)
        and any(each.required is True for each in current.assertions)
    )


def _pass_rate(demand: tuple[int, int] | None) -> float:
    return 0.0 if demand is None else round(demand[0] / demand[1], DIGITS)


def _format_pass_k(rules: TrialRules) -> str | None:
    return None if rules.min_pass_k is None else "{} of {}".format(*rules.min_pass_k)


def _group_weakenings(found: Iterable[_ScenarioWeakening], suite: Suite) -> list[Weakening]:
    """Merges weakenings that several scenarios share into one of the suite."""
    groups: dict[tuple[object, ...], list[Weakening]] = {}
    for each in found:
        groups.setdefault(each.group_key, []).append(each.weakening)
    grouped = []
    for first, *others in groups.values():
        if not others:
            grouped.append(first)
            continue
        places = {each.location for each in (first, *others)}
        location = first.location if len(places) == 1 else Location(suite.path)
        merged = first._replace(scenario=None, variant=None, location=location, scenarios=1 + len(others))
        grouped.append(merged)
    return grouped


_INCLUDED_IN = {"new_hard_fail": {"hard_fail"}, "broken": {"regression"}, "model_changed": {"regression"}}
"""Words of `fail_on` that another word includes."""
_CORRECTIONS = ("holm", "bh", "none")
"""Ordered from the one under which the fewest differences count as changes."""
_INCREASES = ("cost", "latency", "tokens")


def is_dropped(word: str, fail_on: Sequence[str]) -> bool:
    """Whether `fail_on` has neither the word nor one that includes it."""
    return word not in fail_on and not _INCLUDED_IN.get(word, set()) & {*fail_on}


def find_relaxations(baseline: Policy, current: Policy) -> Iterator[Weakening]:
    """What the current policy demands less than the baseline's."""
    for word in baseline.fail_on:
        if is_dropped(word, current.fail_on):
            yield Weakening("fail_on_dropped", baseline=f"fail_on: {word}")
    yield from _find_regression_relaxations(baseline.regression, current.regression)
    yield from _find_comparison_relaxations(baseline.compare_variants, current.compare_variants)
    if current.min_evaluated < baseline.min_evaluated:
        yield _build_weakening("evidence_lowered", "min_evaluated", baseline.min_evaluated, current.min_evaluated)
    if current.critical_issue_threshold > baseline.critical_issue_threshold:
        issues = baseline.critical_issue_threshold, current.critical_issue_threshold
        yield _build_weakening("tolerance_widened", "critical_issue_threshold", *issues)
    limits = baseline.validity.max_not_measured, current.validity.max_not_measured
    if limits[1] > limits[0]:
        yield _build_weakening("tolerance_widened", "validity.max_not_measured", *limits)
    for name in ("duplicates", "empty_globs"):
        if getattr(baseline, name) == "fail" and getattr(current, name) != "fail":
            yield _build_weakening("tolerance_widened", name, getattr(baseline, name), getattr(current, name))
    yield from _find_freshness_relaxations(baseline.freshness, current.freshness)
    if STRICTNESS.index(current.on_weakening) < STRICTNESS.index(baseline.on_weakening):
        yield _build_weakening("warning_lowered", "on_weakening", baseline.on_weakening, current.on_weakening)


def _find_regression_relaxations(baseline: RegressionPolicy, current: RegressionPolicy) -> Iterator[Weakening]:
    kind: WeakeningKind = "tolerance_widened"
    if current.threshold > baseline.threshold:
        yield _build_weakening(kind, "regression.threshold", baseline.threshold, current.threshold)
    if current.alpha < baseline.alpha:
        yield _build_weakening(kind, "regression.alpha", baseline.alpha, current.alpha)
    if current.require_evidence and not baseline.require_evidence:
        yield _build_weakening(kind, "regression.require_evidence", "false", "true")
    if _CORRECTIONS.index(current.correction) < _CORRECTIONS.index(baseline.correction):
        yield _build_weakening(kind, "regression.correction", baseline.correction, current.correction)
    if current.pair_by != baseline.pair_by:
        yield _build_weakening(kind, "regression.pair_by", baseline.pair_by or "none", current.pair_by or "none")
    for name in _INCREASES:
        baseline_limit, current_limit = getattr(baseline, name), getattr(current, name)
        if baseline_limit is not None and (
            current_limit is None or current_limit.max_increase > baseline_limit.max_increase
        ):
            limit = None if current_limit is None else current_limit.max_increase
            yield _build_weakening(kind, f"regression.{name}.max_increase", baseline_limit.max_increase, limit)


def _find_comparison_relaxations(
    baseline: Sequence[VariantComparison], current: Sequence[VariantComparison]
) -> Iterator[Weakening]:
    """Pairs that are no longer compared, or of which less is required.

    A lower alpha hides regressions, a higher one makes a lift of what may be chance.
    """
    kind: WeakeningKind = "tolerance_widened"
    now = {each.arms: each for each in current}
    for old in baseline:
        new, name = now.get(old.arms), "compare_variants: {} -> {}".format(*old.arms)
        if new is None:
            yield Weakening(kind, baseline=name)
            continue
        if old.require == "lift" and new.require != "lift":
            yield Weakening(kind, baseline=f"{name}, require: lift", current="require: no_regression")
        if new.alpha < old.alpha or (old.require == "lift" and new.alpha > old.alpha):
            yield Weakening(kind, baseline=f"{name}, alpha: {old.alpha:g}", current=f"alpha: {new.alpha:g}")
        if new.pair_by != old.pair_by:
            yield Weakening(kind, baseline=f"{name}, pair_by: {old.pair_by}", current=f"pair_by: {new.pair_by}")


def _find_freshness_relaxations(
    baseline: FreshnessPolicy | None, current: FreshnessPolicy | None
) -> Iterator[Weakening]:
    if baseline is None:
        return
    kind: WeakeningKind = "freshness_loosened"
    if baseline.require == "head" and (current is None or current.require != "head"):
        yield _build_weakening(kind, "freshness.require", "head", "any")
    for glob in baseline.watch:
        if current is None or glob not in current.watch:
            yield Weakening(kind, baseline=f"freshness.watch: {glob}")
    longest = timedelta.max if current is None else current.longest_age
    if baseline.longest_age < longest:
        yield _build_weakening(kind, "freshness.max_age", baseline.max_age, current and current.max_age)
    if baseline.one_recording and not (current and current.one_recording):
        yield _build_weakening(kind, "freshness.one_recording", "true", "false")


def _build_weakening(kind: WeakeningKind, name: str, before: Any, after: Any) -> Weakening:
    """A demand with its value before and after, None if there was none."""
    texts = [None if value is None else f"{name}: {_format_value(value)}" for value in (before, after)]
    return Weakening(kind, baseline=texts[0] or name, current=texts[1])


def _format_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
