"""Groups: several assertions combined into one, with one weight and one row in the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.evaluator import Check, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace

Members = list[tuple["Assertion", Finding]]
Decide = Callable[[Members], Finding]

MOST_REMEMBERED = 64
"""Combinations of members' findings whose decision a group caches."""


def all_of(members: Sequence[Assertion]) -> Check:
    """Passes if every member passes; otherwise failed decides, else error, else not_evaluable."""
    decide = _remembering(_all)
    return lambda trace: decide(_find(members, trace))


def any_of(members: Sequence[Assertion]) -> Check:
    """Passes if one member passes; else error, else not_evaluable, else failed."""
    decide = _remembering(lambda found: _decided(found, ("passed", "error", "not_evaluable", "failed")))
    return lambda trace: decide(_find(members, trace))


def at_least(k: int, members: Sequence[Assertion]) -> Check:
    """Passes if `k` members pass; fails if `k` could not be reached even if all undecided ones passed."""

    def decide(found: Members) -> Finding:
        if not found:
            return _decided(found, ())
        outcomes = [finding.outcome for _, finding in found]
        passed = outcomes.count("passed")
        open_ = outcomes.count("error") + outcomes.count("not_evaluable")
        if passed >= k:
            return _told("passed", found, "passed", f"{passed} of {len(found)} passed, {k} needed")
        if passed + open_ < k:
            return _told("failed", found, "failed", f"{passed} of {len(found)} passed, {k} needed")
        return _decided(
            [(m, f) for m, f in found if f.outcome in ("error", "not_evaluable")], ("error", "not_evaluable")
        )

    remembering = _remembering(decide)
    return lambda trace: remembering(_find(members, trace))


def when(condition: Assertion, then: Sequence[Assertion]) -> Check:
    """Judges the members only if the condition passes; if that can't be judged, neither can the group."""
    decide, leave_out = _remembering(_all), _remembering(_left_out)

    def check(trace: Trace) -> Finding:
        found = condition.find(trace)
        if found.outcome == "passed":
            return decide(_find(then, trace))
        return leave_out([(condition, found)])

    return check


def _left_out(conditions: Members) -> Finding:
    """Returns the finding of a group whose condition did not pass."""
    ((_, found),) = conditions
    if found.outcome in ("failed", "skipped"):
        return Finding("skipped", f"condition does not hold: {found.reason}")
    return Finding(found.outcome, f"condition: {found.reason}")


def _remembering(decide: Decide) -> Decide:
    """Caches decisions by the identity of the members' findings, which are the same for most traces."""
    known: dict[tuple[int, ...], tuple[Members, Finding]] = {}

    def decide_once(found: Members) -> Finding:
        key = tuple([id(each) for pair in found for each in pair])
        if key in known:
            return known[key][1]
        finding = decide(found)
        if len(known) < MOST_REMEMBERED:
            known[key] = found, finding  # keeping the findings alive keeps their ids unique
        return finding

    return decide_once


def _find(members: Sequence[Assertion], trace: Trace) -> Members:
    """Returns the members' findings, without skipped ones and missing evidence that may be skipped."""
    found = [(member, member.find(trace)) for member in members]
    return [
        (member, finding)
        for member, finding in found
        if finding.outcome != "skipped"
        and not (finding.outcome == "not_evaluable" and member.on_missing_skip)
    ]


def _all(found: Members) -> Finding:
    return _decided(found, ("failed", "error", "not_evaluable", "passed"))


def _decided(found: Members, order: Sequence[Outcome]) -> Finding:
    """Returns a finding with the first outcome of `order` that any member has."""
    if not found:
        return Finding("skipped", "no member applies")
    outcomes = {finding.outcome for _, finding in found}
    outcome = next(each for each in order if each in outcomes)
    return _told(outcome, found, outcome)


def _told(outcome: Outcome, found: Members, deciding: Outcome, lead: str | None = None) -> Finding:
    """Builds a finding whose reason lists the members that decided."""
    reasons = [f"{member.name}: {finding.reason}" for member, finding in found if finding.outcome == deciding]
    evidence: dict[str, Any] = {
        "members": [{"name": m.name, "outcome": f.outcome, "reason": f.reason} for m, f in found]
    }
    if figures := _figures(found):
        evidence["figures"] = figures
    return Finding(outcome, "; ".join([lead, *reasons] if lead else reasons), evidence)


def _figures(found: Members) -> list[dict[str, Any]]:
    """Collects the values of `convergence` in the group: the next run reads them from this run's results."""
    figures: list[dict[str, Any]] = []
    for member, finding in found:
        evidence = finding.evidence or {}
        figures += evidence.get("figures", ())
        if member.type == "convergence" and "value" in evidence:
            figures.append({"name": member.name, "value": evidence["value"]})
    return figures
