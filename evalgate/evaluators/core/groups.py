"""Groups: several assertions combined into one, with one weight and one row in the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.evaluator import Check, Finding
from evalgate.evaluators.core.evidence import Undecided, build_undecided, combine_undecided, is_skippable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace

MemberFindings = list[tuple["Assertion", Finding]]
Decider = Callable[[MemberFindings], Finding]

MAX_CACHED_DECISIONS = 64
"""Combinations of members' findings whose decision a group caches."""


def all_of(members: Sequence[Assertion]) -> Check:
    """Passes if every member passes; otherwise failed decides, else error, else not_evaluable."""
    decide = _cache_decisions(_decide_all_of)
    return lambda trace: decide(_evaluate(members, trace))


def any_of(members: Sequence[Assertion]) -> Check:
    """Passes if one member passes; else error, else not_evaluable, else failed."""
    decide = _cache_decisions(lambda found: _decide_by(found, ("passed", "error", "not_evaluable", "failed")))
    return lambda trace: decide(_evaluate(members, trace))


def at_least(k: int, members: Sequence[Assertion]) -> Check:
    """Passes if `k` members pass; fails if `k` could not be reached even if all undecided ones passed."""

    def decide(found: MemberFindings) -> Finding:
        if not found:
            return _decide_by(found, ())
        outcomes = [finding.outcome for _, finding in found]
        passed = outcomes.count("passed")
        undecided = outcomes.count("error") + outcomes.count("not_evaluable")
        if passed >= k:
            return _build_finding("passed", found, "passed", f"{passed} of {len(found)} passed, {k} needed")
        if passed + undecided < k:
            return _build_finding("failed", found, "failed", f"{passed} of {len(found)} passed, {k} needed")
        return _decide_by(
            [(m, f) for m, f in found if f.outcome in ("error", "not_evaluable")], ("error", "not_evaluable")
        )

    cached_decide = _cache_decisions(decide)
    return lambda trace: cached_decide(_evaluate(members, trace))


def when(condition: Assertion, then: Sequence[Assertion]) -> Check:
    """Judges the members only if the condition passes; if that can't be judged, neither can the group."""
    decide, decide_unmet = _cache_decisions(_decide_all_of), _cache_decisions(_decide_unmet)

    def check(trace: Trace) -> Finding:
        found = condition.evaluate(trace)
        if found.outcome == "passed":
            return decide(_evaluate(then, trace))
        if isinstance(found, Undecided):
            return _decide_unknown(found, _evaluate(then, trace))
        return decide_unmet([(condition, found)])

    return check


def _decide_unknown(condition: Undecided, found: MemberFindings) -> Finding:
    """Decides if calls that were not recorded decide the condition; skippable only if no member could fail."""
    could_fail = any(each.outcome == "failed" or not is_skippable(each) for _, each in found)
    decided = Finding("not_evaluable", f"condition: {condition.reason}")
    return build_undecided(decided, may_fail=condition.may_fail or could_fail, may_pass=True)


def _decide_unmet(conditions: MemberFindings) -> Finding:
    ((_, found),) = conditions
    if found.outcome in ("failed", "skipped"):
        return Finding("skipped", f"condition does not hold: {found.reason}")
    return Finding(found.outcome, f"condition: {found.reason}")


def _cache_decisions(decide: Decider) -> Decider:
    """Caches decisions by the identity of the members' findings, which are the same for most traces."""
    cache: dict[tuple[int, ...], tuple[MemberFindings, Finding]] = {}

    def decide_once(found: MemberFindings) -> Finding:
        key = tuple([id(each) for pair in found for each in pair])
        if key in cache:
            return cache[key][1]
        finding = decide(found)
        if len(cache) < MAX_CACHED_DECISIONS:
            cache[key] = found, finding  # keeping the findings alive keeps their ids unique
        return finding

    return decide_once


def _evaluate(members: Sequence[Assertion], trace: Trace) -> MemberFindings:
    """Returns the members' findings, without skipped ones and missing evidence that may be skipped."""
    found = [(member, member.evaluate(trace)) for member in members]
    return [
        (member, finding)
        for member, finding in found
        if finding.outcome != "skipped"
        and not (finding.outcome == "not_evaluable" and member.on_missing_skip and is_skippable(finding))
    ]


def _decide_all_of(found: MemberFindings) -> Finding:
    return _decide_by(found, ("failed", "error", "not_evaluable", "passed"))


def _decide_by(found: MemberFindings, order: Sequence[Outcome]) -> Finding:
    """Returns a finding with the first outcome of `order` that any member has."""
    if not found:
        return Finding("skipped", "no member applies")
    outcomes = {finding.outcome for _, finding in found}
    outcome = next(each for each in order if each in outcomes)
    return _build_finding(outcome, found, outcome)


def _build_finding(outcome: Outcome, found: MemberFindings, deciding: Outcome, lead: str | None = None) -> Finding:
    reasons = [f"{member.name}: {finding.reason}" for member, finding in found if finding.outcome == deciding]
    evidence: dict[str, Any] = {
        "members": [{"name": m.name, "outcome": f.outcome, "reason": f.reason} for m, f in found]
    }
    if figures := _collect_figures(found):
        evidence["figures"] = figures
    finding = Finding(outcome, "; ".join([lead, *reasons] if lead else reasons), evidence)
    return combine_undecided(finding, [each for _, each in found])


def _collect_figures(found: MemberFindings) -> list[dict[str, Any]]:
    """Collects the values of `convergence` in the group: the next run reads them from this run's results."""
    figures: list[dict[str, Any]] = []
    for member, finding in found:
        evidence = finding.evidence or {}
        figures += evidence.get("figures", ())
        if member.type == "convergence" and "value" in evidence:
            figures.append({"name": member.name, "value": evidence["value"]})
    return figures
