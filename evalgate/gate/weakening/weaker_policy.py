"""Compares a policy with the baseline's: which of its demands got weaker."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.models.comparison.weakening import STRICTNESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.comparison.weakening import WeakeningKind
    from evalgate.suite.policy import FreshnessPolicy, Policy, RegressionPolicy

_INCLUDED_IN = {"new_hard_fail": {"hard_fail"}, "broken": {"regression"}}
"""Words of `fail_on` that another word includes."""
_CORRECTIONS = ("holm", "bh", "none")
"""Ordered from the one under which the fewest differences count as changes."""
_INCREASES = ("cost", "latency", "tokens")


class PolicyRelaxation(NamedTuple):
    """One demand of a policy that got weaker."""

    kind: WeakeningKind
    before: str
    after: str | None


def find_relaxations(baseline: Policy, current: Policy) -> Iterator[PolicyRelaxation]:
    """What the current policy demands less than the baseline's."""
    for word in baseline.fail_on:
        if word not in current.fail_on and not _INCLUDED_IN.get(word, set()) & set(current.fail_on):
            yield PolicyRelaxation("fail_on_dropped", f"fail_on: {word}", None)
    yield from _find_regression_relaxations(baseline.regression, current.regression)
    if current.min_evaluated < baseline.min_evaluated:
        yield _build_relaxation(
            "evidence_lowered", "min_evaluated", baseline.min_evaluated, current.min_evaluated
        )
    if current.critical_issue_threshold > baseline.critical_issue_threshold:
        limits = baseline.critical_issue_threshold, current.critical_issue_threshold
        yield _build_relaxation("tolerance_widened", "critical_issue_threshold", *limits)
    yield from _find_freshness_relaxations(baseline.freshness, current.freshness)
    if STRICTNESS.index(current.on_weakening) < STRICTNESS.index(baseline.on_weakening):
        yield _build_relaxation(
            "warning_lowered", "on_weakening", baseline.on_weakening, current.on_weakening
        )


def _find_regression_relaxations(
    baseline: RegressionPolicy, current: RegressionPolicy
) -> Iterator[PolicyRelaxation]:
    kind: WeakeningKind = "tolerance_widened"
    if current.threshold > baseline.threshold:
        yield _build_relaxation(kind, "regression.threshold", baseline.threshold, current.threshold)
    if current.alpha < baseline.alpha:
        yield _build_relaxation(kind, "regression.alpha", baseline.alpha, current.alpha)
    if current.require_evidence and not baseline.require_evidence:
        yield _build_relaxation(kind, "regression.require_evidence", "false", "true")
    if _CORRECTIONS.index(current.correction) < _CORRECTIONS.index(baseline.correction):
        yield _build_relaxation(kind, "regression.correction", baseline.correction, current.correction)
    for name in _INCREASES:
        baseline_limit, current_limit = getattr(baseline, name), getattr(current, name)
        if baseline_limit is not None and (
            current_limit is None or current_limit.max_increase > baseline_limit.max_increase
        ):
            limit = None if current_limit is None else current_limit.max_increase
            yield _build_relaxation(
                kind, f"regression.{name}.max_increase", baseline_limit.max_increase, limit
            )


def _find_freshness_relaxations(
    baseline: FreshnessPolicy | None, current: FreshnessPolicy | None
) -> Iterator[PolicyRelaxation]:
    if baseline is None:
        return
    kind: WeakeningKind = "freshness_loosened"
    if baseline.require == "head" and (current is None or current.require != "head"):
        yield _build_relaxation(kind, "freshness.require", "head", "any")
    for glob in baseline.watch:
        if current is None or glob not in current.watch:
            yield PolicyRelaxation(kind, f"freshness.watch: {glob}", None)
    longest = timedelta.max if current is None else current.longest_age
    if baseline.longest_age < longest:
        yield _build_relaxation(kind, "freshness.max_age", baseline.max_age, current and current.max_age)


def _build_relaxation(kind: WeakeningKind, name: str, before: Any, after: Any) -> PolicyRelaxation:
    texts = [None if value is None else f"{name}: {_format_value(value)}" for value in (before, after)]
    return PolicyRelaxation(kind, texts[0] or name, texts[1])


def _format_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
