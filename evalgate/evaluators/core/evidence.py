"""Checks on evidence that a trace may lack: what was seen decides only where more evidence could not turn it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.evaluators.core.evaluator import Check, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import EvidenceKind, Trace

    IsDecided = Callable[[Finding, Trace], bool]

FAILED: tuple[Outcome, ...] = ("failed",)
PASSED: tuple[Outcome, ...] = ("passed",)
CALLS: tuple[EvidenceKind, ...] = ("calls",)
ARGUMENTS: tuple[EvidenceKind, ...] = ("calls", "arguments")


class Undecided(Finding):
    """not_evaluable because calls may be missing.

    `may_fail` and `may_pass`: calls that were not recorded could make a check fail that passes without them,
    or the other way round. A check that they could make fail forbids calls, and can't be skipped.
    """

    may_fail: bool
    may_pass: bool

    def negate(self) -> Undecided:
        """Returns the same for the opposite check."""
        return build_undecided(self, may_fail=self.may_pass, may_pass=self.may_fail)


def build_undecided(found: Finding, *, may_fail: bool, may_pass: bool) -> Undecided:
    """Builds one from another finding."""
    undecided = Undecided(*found)
    undecided.may_fail, undecided.may_pass = may_fail, may_pass
    return undecided


def is_skippable(found: Finding) -> bool:
    """Returns whether `on_missing: skip` leaves out this not_evaluable finding."""
    return not (isinstance(found, Undecided) and found.may_fail)


def combine_undecided(combined: Finding, causes: Iterable[Finding]) -> Finding:
    """Returns the finding, combined from several, as undecided if it is not_evaluable and one of them is."""
    if combined.outcome != "not_evaluable":
        return combined
    undecided = [each for each in causes if isinstance(each, Undecided)]
    if not undecided:
        return combined
    may_fail, may_pass = any(each.may_fail for each in undecided), any(each.may_pass for each in undecided)
    return build_undecided(combined, may_fail=may_fail, may_pass=may_pass)


class EvidenceCheck:
    """A check in two forms: `plain` for traces without gaps in their evidence, `careful` for the others."""

    __slots__ = ("careful", "plain")

    def __init__(self, plain: Check, careful: Check) -> None:
        self.plain, self.careful = plain, careful

    def __call__(self, trace: Trace) -> Finding:
        """Judges the trace."""
        return self.careful(trace) if trace.gaps else self.plain(trace)


def plain_form(check: Check) -> Check:
    """Returns the check for traces without gaps."""
    return check.plain if isinstance(check, EvidenceCheck) else check


def careful_form(check: Check) -> Check:
    """Returns the check for traces with gaps."""
    return check.careful if isinstance(check, EvidenceCheck) else check


def require_evidence(
    check: Check,
    kinds: Sequence[EvidenceKind],
    final: Sequence[Outcome] = (),
    is_decided: IsDecided | None = None,
    *,
    denies: bool = True,
) -> Check:
    """Makes the check not_evaluable on traces that lack evidence of `kinds`.

    Findings with an outcome in `final` stay, and those for which `is_decided` is true: more evidence could
    not turn them. `denies` is False if `on_missing: skip` applies whatever is missing.
    """
    if not kinds:
        return check
    may_fail, may_pass = denies and "passed" not in final, denies and "failed" not in final

    def check_carefully(trace: Trace) -> Finding:
        found = check(trace)
        missing = find_missing(trace, kinds)
        if not missing or found.outcome in final or found.outcome in ("error", "skipped"):
            return found
        if is_decided is not None and is_decided(found, trace):
            return found
        reason = describe_missing(trace, missing)
        if found.outcome == "not_evaluable":
            reason = f"{found.reason}; {reason}"
        undecided = Finding("not_evaluable", reason)
        return build_undecided(undecided, may_fail=may_fail, may_pass=may_pass) if "calls" in missing else undecided

    return EvidenceCheck(check, check_carefully)


def find_missing(trace: Trace, kinds: Iterable[EvidenceKind]) -> list[EvidenceKind]:
    """Returns the kinds of which the trace may lack evidence."""
    return [kind for kind in kinds if kind in trace.gaps]


def describe_missing(trace: Trace, missing: Sequence[EvidenceKind]) -> str:
    """Describes missing evidence, with the reason, which says how to record it."""
    reasons: dict[str, list[str]] = {}
    for kind in missing:
        reasons.setdefault(trace.gaps[kind], []).append(kind)
    return "; ".join(f"missing evidence ({', '.join(names)}): {reason}" for reason, names in reasons.items())
