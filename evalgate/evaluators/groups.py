"""Groups: several checks that make one assertion with one weight and one row in the results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.evaluators.evaluator import Check, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.evaluators.assertion import Assertion
    from evalgate.models.run import Outcome
    from evalgate.models.trace import Trace

Members = list[tuple["Assertion", Finding]]


def all_of(members: Sequence[Assertion]) -> Check:
    """Passes where every member passes; any failed, else error, else not_evaluable decides otherwise."""
    return lambda trace: _all(_find(members, trace))


def any_of(members: Sequence[Assertion]) -> Check:
    """Passes where one member passes; else error, else not_evaluable, else failed."""

    def check(trace: Trace) -> Finding:
        found = _find(members, trace)
        return _decided(found, ("passed", "error", "not_evaluable", "failed"))

    return check


def at_least(k: int, members: Sequence[Assertion]) -> Check:
    """Passes where `k` members pass; fails where `k` can't be reached whatever the undecided ones were."""

    def check(trace: Trace) -> Finding:
        found = _find(members, trace)
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

    return check


def when(condition: Assertion, then: Sequence[Assertion]) -> Check:
    """The members count only where the condition passes; one that can't be judged makes the group so."""

    def check(trace: Trace) -> Finding:
        found = condition.find(trace)
        if found.outcome == "passed":
            return _all(_find(then, trace))
        if found.outcome in ("failed", "skipped"):
            return Finding("skipped", f"condition does not hold: {found.reason}")
        return Finding(found.outcome, f"condition: {found.reason}")

    return check


def _find(members: Sequence[Assertion], trace: Trace) -> Members:
    """The members' findings, without those that are left out."""
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
    """The first outcome of `order` that any member has."""
    if not found:
        return Finding("skipped", "no member applies")
    outcomes = {finding.outcome for _, finding in found}
    outcome = next(each for each in order if each in outcomes)
    return _told(outcome, found, outcome)


def _told(outcome: Outcome, found: Members, deciding: Outcome, lead: str | None = None) -> Finding:
    """A finding whose reason lists the members that decided."""
    reasons = [f"{member.name}: {finding.reason}" for member, finding in found if finding.outcome == deciding]
    evidence: dict[str, Any] = {
        "members": [{"name": m.name, "outcome": f.outcome, "reason": f.reason} for m, f in found]
    }
    if figures := _figures(found):
        evidence["figures"] = figures
    return Finding(outcome, "; ".join([lead, *reasons] if lead else reasons), evidence)


def _figures(found: Members) -> list[dict[str, Any]]:
    """What `convergence` measured within the group: the next run looks for it in this one's results."""
    figures: list[dict[str, Any]] = []
    for member, finding in found:
        evidence = finding.evidence or {}
        figures += evidence.get("figures", ())
        if member.type == "convergence" and "value" in evidence:
            figures.append({"name": member.name, "value": evidence["value"]})
    return figures
