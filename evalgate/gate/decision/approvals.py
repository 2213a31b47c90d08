"""Rules on approvals of failures: each approval by itself, then all approvals of a scenario together.

An approval is for a known failure: of checks that it covers by what they demand, not by their names. It never covers
a scenario that was not evaluated, a failure worse than the approved one, or an additional failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalgate.gate.common.wording import format_verdict
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.approvals.approval import ApprovalRuling, ApprovalRulings, IdentifiedCheck
from evalgate.models.comparison.comparison import REGRESSIONS, ScenarioKey, list_scenarios
from evalgate.models.run.run import NEGATED, NOT_EVALUATED, WHEN
from evalgate.models.run.trials import summarize
from evalgate.scoring.wording import cut_quote, join_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from evalgate.models.approvals.approval import Approval, Approvals, ApprovalStatus, BaseChecks
    from evalgate.models.comparison.comparison import Change
    from evalgate.models.run.run import Run, ScenarioResult

APPROVABLE = frozenset({"hard_fail", "new_hard_fail", "below_threshold", "broken", "regression", "model_changed"})
"""Words of `fail_on` that an approved scenario does not trigger."""
PROPOSED = "added by this pull request: it counts once merged (at once with the action's input `approvals-from: head`)"
ANOTHER_FAILS = "a different failure than the approved one"
MORE_FAILS = "more failures than approved"
UNREAD_TRACE = "a trial's trace"
NOT_APPROVABLE = "only an evaluated scenario can be approved"


class ApprovalSubject(NamedTuple):
    """A scenario of the run with its change, which approvals are checked against."""

    scenario: ScenarioResult
    change: Change | None

    @property
    def is_worse(self) -> bool:
        """Whether there is anything to approve."""
        change = self.change
        got_worse = change is not None and (change.kind in REGRESSIONS or bool(change.increases))
        return got_worse or self.scenario.verdict != "PASS"

    @property
    def failed_checks(self) -> set[IdentifiedCheck]:
        """The checks that failed, without those that could not be evaluated: no approval covers these."""
        failed = (each for trial in self.scenario.trials for each in summarize(trial).failed)
        return {IdentifiedCheck(each.name, each.digest, each.type) for each in failed if each.outcome == "failed"}

    @property
    def failures(self) -> set[IdentifiedCheck]:
        """The failed checks, and one more entry if a trace could not be read."""
        unread = any(trial.status == "error" for trial in self.scenario.trials)
        return self.failed_checks | ({IdentifiedCheck(UNREAD_TRACE, None)} if unread else set())

    @property
    def digests(self) -> frozenset[str] | None:
        """Digests of the failed checks; None if the document of an earlier version lacks one."""
        found = frozenset(each.digest for each in self.failed_checks if each.digest is not None)
        return found if all(each.digest for each in self.failed_checks) else None

    @property
    def unknown(self) -> str | None:
        """Why the scenario can't be approved: it, or a check that it requires, was not evaluated; else None."""
        if self.scenario.verdict in NOT_EVALUATED:
            return f"is {format_verdict(self.scenario.verdict)}: {NOT_APPROVABLE}"
        others = (each for trial in self.scenario.trials for each in summarize(trial).failed if each.required)
        names = {each.name for each in others if each.outcome != "failed"} - {each.name for each in self.failed_checks}
        return f"can't be approved while {join_names(sorted(names))} can't be evaluated" if names else None

    @property
    def trace_hashes(self) -> set[str | None]:
        """Fingerprints of the traces that did not pass, or of all traces if none failed."""
        trials = self.scenario.trials
        failed = [trial for trial in trials if trial.status != "passed"]
        return {trial.trace.sha256 for trial in failed or trials}


class _Objection(NamedTuple):
    """Why an approval does not hold; `status` is `active` if it does."""

    status: ApprovalStatus
    message: str = ""


NO_OBJECTION = _Objection("active")


def rule_on_approvals(
    run: Run,
    changes: Mapping[ScenarioKey, Change],
    approvals: Approvals,
    today: date,
    base_checks: BaseChecks = lambda _: None,
) -> ApprovalRulings:
    """Rules on every approval, in file order, and finds which scenarios may fail because of them.

    `base_checks` bounds what an approval of an earlier version covers.
    """
    subjects = collect_subjects(run, changes)
    effective = [resolve_covers(each, base_checks) for each in approvals.effective]
    objections = [_check_approval(approval, subjects, today) for approval in effective]
    active: dict[ScenarioKey, list[Approval]] = {}
    for approval, objection in zip(effective, objections, strict=True):
        if objection is NO_OBJECTION:
            active.setdefault(_scenario_key(approval), []).append(approval)
    unapproved = {key: _find_unapproved(subjects[key], found) for key, found in active.items()}
    rulings = [
        _build_ruling(approval, _add_unapproved(objection, unapproved.get(_scenario_key(approval))), today)
        for approval, objection in zip(approvals.effective, objections, strict=True)
    ]
    rulings += [_build_ruling(approval, _Objection("proposed", PROPOSED), today) for approval in approvals.proposed]
    return ApprovalRulings(tuple(rulings), frozenset(key for key, names in unapproved.items() if names is None))


def resolve_covers(approval: Approval, base_checks: BaseChecks) -> Approval:
    """The approval with the digests that it covers.

    One of an earlier version covers the checks in the base's suites that have the names it allows.
    """
    known = None if approval.covers is not None else base_checks(_scenario_key(approval))
    if known is None:
        return approval
    covers = frozenset(each.digest for each in known if each.digest is not None and _allows_name(approval, each))
    return replace(approval, covers=covers)


def _allows_name(approval: Approval, check: IdentifiedCheck) -> bool:
    """Whether it allows a check by its name, also by one of earlier versions.

    They named a check that must not hold as its opposite, and a conditional one by its type alone.
    """
    plain = check.name.removeprefix(NEGATED)
    names = {check.name, plain}
    if check.type == WHEN and plain.startswith(f"{WHEN} "):
        names |= {WHEN, check.name.removesuffix(plain) + WHEN}
    if approval.assertion is not None:
        return approval.assertion in names
    return approval.checks is None or not names.isdisjoint(approval.checks)


def _covers_failure(approval: Approval, failure: IdentifiedCheck) -> bool:
    if approval.covers is None or failure.digest is None:
        return _allows_name(approval, failure)
    return failure.digest in approval.covers


def rule_by_date(approvals: Iterable[Approval], today: date) -> tuple[ApprovalRuling, ...]:
    """Rules on approvals without a run: only the day decides."""
    return tuple(_build_ruling(each, _check_expiry(each, today) or NO_OBJECTION, today) for each in approvals)


def collect_subjects(run: Run, changes: Mapping[ScenarioKey, Change]) -> dict[ScenarioKey, ApprovalSubject]:
    """Every scenario of a run with its change, by key."""
    return {key: ApprovalSubject(scenario, changes.get(key)) for key, scenario in list_scenarios(run.suites)}


def find_proposals(base: Iterable[Approval], head: Iterable[Approval]) -> tuple[Approval, ...]:
    """Approvals in a pull request's file that the base branch's file does not have."""
    base_scopes = {approval.scope for approval in base}
    return tuple(approval for approval in head if approval.scope not in base_scopes)


def _scenario_key(approval: Approval) -> ScenarioKey:
    return ScenarioKey(approval.suite, approval.scenario, approval.variant)


def _build_ruling(approval: Approval, objection: _Objection, today: date) -> ApprovalRuling:
    days = (approval.until - today).days
    message = objection.message or _format_days_left(days)
    if objection.status == "proposed":
        message = f"{message}; {_format_days_left(days)}"
    return ApprovalRuling(approval, objection.status, message, days)


def _format_days_left(days: int) -> str:
    if days < 1:
        return "expires today"
    return f"expires in {days} day{'s' if days > 1 else ''}"


def _check_approval(approval: Approval, subjects: Mapping[ScenarioKey, ApprovalSubject], today: date) -> _Objection:
    """Checks one approval by itself: its day, its scenario, its check, its bounds."""
    expired = _check_expiry(approval, today)
    if expired is not None:
        return expired
    subject = subjects.get(_scenario_key(approval))
    if subject is None:
        return _Objection("unused", _explain_missing(approval, subjects))
    if not subject.is_worse:
        return _Objection("unused", "the scenario passes without it (remove it once that is sure)")
    if subject.unknown is not None:
        return _Objection("void", f"the scenario {subject.unknown}")
    return _check_assertion(approval, subject) or _check_bounds(approval, subject)


def _check_assertion(approval: Approval, subject: ApprovalSubject) -> _Objection | None:
    """Checks that what an approval of one check covers fails: another check of its name is a different failure."""
    failed, name = subject.failed_checks, approval.assertion
    if name is None or any(_covers_failure(approval, each) for each in failed):
        return None
    if not any(_allows_name(approval, each) for each in failed):
        return _Objection("unused", f"the check {cut_quote(name)} does not fail")
    return _Objection("void", f"{ANOTHER_FAILS}: {_name_all(subject.failures)}")


def _check_expiry(approval: Approval, today: date) -> _Objection | None:
    if today <= approval.until:
        return None
    return _Objection("expired", f"expired on {approval.until.isoformat()}")


def _check_bounds(approval: Approval, subject: ApprovalSubject) -> _Objection:
    kind = subject.change.kind if subject.change is not None else None
    if approval.change not in (None, kind):
        actual = f"the change is {kind}" if kind else "nothing was compared"
        return _Objection("void", f"{actual}, but {approval.change} was approved")
    score, min_score = subject.scenario.score, approval.least_score
    if min_score is not None and (score is None or round(score, DIGITS) < round(min_score, DIGITS)):
        actual = "the score is not known" if score is None else f"score {_format_score(score, min_score)}"
        return _Objection("void", f"worse than approved: {actual}, at least {min_score:g} was approved")
    if approval.traces and not subject.trace_hashes <= approval.traces:
        return _Objection("void", "the failing trace is not the approved one")
    return NO_OBJECTION


def _format_score(score: float, min_score: float) -> str:
    """The score with as many digits as it takes to show that it is lower."""
    return f"{score:.2f}" if float(f"{score:.2f}") < min_score else f"{score:.9g}"


def _explain_missing(approval: Approval, scenarios: Iterable[ScenarioKey]) -> str:
    """The run has no such scenario; if the scenario has variants, the approval must name one."""
    variants = [
        key.variant
        for key in scenarios
        if (key.suite, key.id) == (approval.suite, approval.scenario) and key.variant is not None
    ]
    if variants and approval.variant is None:
        return f"the scenario has variants, name one: {join_names(variants)}"
    return "the run has no such scenario"


def _find_unapproved(subject: ApprovalSubject, approvals: Sequence[Approval]) -> str | None:
    """The failures that no approval of the scenario covers, in words; None without one."""
    unapproved = {each for each in subject.failures if not any(_covers_failure(one, each) for one in approvals)}
    if not unapproved:
        return None
    return f"{ANOTHER_FAILS if unapproved == subject.failures else MORE_FAILS}: {_name_all(unapproved)}"


def _add_unapproved(objection: _Objection, unapproved: str | None) -> _Objection:
    if objection is not NO_OBJECTION or unapproved is None:
        return objection
    return _Objection("void", unapproved)


def _name_all(failures: Iterable[IdentifiedCheck]) -> str:
    return join_names(sorted({each.name for each in failures}))
