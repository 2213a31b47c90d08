"""Compares a policy with the baseline's: which of its demands got weaker."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.models.comparison.weakening import STRICTNESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.comparison.weakening import WeakeningKind
    from evalgate.suite.policy import FreshnessPolicy, Policy, RegressionPolicy

_COVERS = {"new_hard_fail": {"hard_fail"}, "broken": {"regression"}}
"""Words of `fail_on` that another word includes."""
_CORRECTIONS = ("holm", "bh", "none")
"""Ordered from the one under which the fewest differences count as changes."""
_INCREASES = ("cost", "latency", "tokens")


class PolicyRelaxation(NamedTuple):
    """One demand of a policy that got weaker."""

    kind: WeakeningKind
    before: str
    after: str | None


def eased(old: Policy, new: Policy) -> Iterator[PolicyRelaxation]:
    """What the current policy demands less than the baseline's."""
    for word in old.fail_on:
        if word not in new.fail_on and not _COVERS.get(word, set()) & set(new.fail_on):
            yield PolicyRelaxation("fail_on_dropped", f"fail_on: {word}", None)
    yield from _regression(old.regression, new.regression)
    if new.min_evaluated < old.min_evaluated:
        yield _moved("evidence_lowered", "min_evaluated", old.min_evaluated, new.min_evaluated)
    if new.critical_issue_threshold > old.critical_issue_threshold:
        limits = old.critical_issue_threshold, new.critical_issue_threshold
        yield _moved("tolerance_widened", "critical_issue_threshold", *limits)
    yield from _freshness(old.freshness, new.freshness)
    if STRICTNESS.index(new.on_weakening) < STRICTNESS.index(old.on_weakening):
        yield _moved("warning_lowered", "on_weakening", old.on_weakening, new.on_weakening)


def _regression(old: RegressionPolicy, new: RegressionPolicy) -> Iterator[PolicyRelaxation]:
    kind: WeakeningKind = "tolerance_widened"
    if new.threshold > old.threshold:
        yield _moved(kind, "regression.threshold", old.threshold, new.threshold)
    if new.alpha < old.alpha:
        yield _moved(kind, "regression.alpha", old.alpha, new.alpha)
    if new.require_evidence and not old.require_evidence:
        yield _moved(kind, "regression.require_evidence", "false", "true")
    if _CORRECTIONS.index(new.correction) < _CORRECTIONS.index(old.correction):
        yield _moved(kind, "regression.correction", old.correction, new.correction)
    for name in _INCREASES:
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and (after is None or after.max_increase > before.max_increase):
            limit = None if after is None else after.max_increase
            yield _moved(kind, f"regression.{name}.max_increase", before.max_increase, limit)


def _freshness(old: FreshnessPolicy | None, new: FreshnessPolicy | None) -> Iterator[PolicyRelaxation]:
    if old is None:
        return
    kind: WeakeningKind = "freshness_loosened"
    if old.require == "head" and (new is None or new.require != "head"):
        yield _moved(kind, "freshness.require", "head", "any")
    for glob in old.watch:
        if new is None or glob not in new.watch:
            yield PolicyRelaxation(kind, f"freshness.watch: {glob}", None)
    longest = timedelta.max if new is None else new.longest
    if old.longest < longest:
        yield _moved(kind, "freshness.max_age", old.max_age, new and new.max_age)


def _moved(kind: WeakeningKind, name: str, before: Any, after: Any) -> PolicyRelaxation:
    told = [None if value is None else f"{name}: {_said(value)}" for value in (before, after)]
    return PolicyRelaxation(kind, told[0] or name, told[1])


def _said(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
