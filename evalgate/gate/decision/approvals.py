"""Rules on approvals of failures: each approval by itself, then all approvals of a scenario together.

An approval is for a known failure. It never covers a scenario that was not evaluated, a failure worse than
the approved one, or an additional failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.gate.common.wording import spoken
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.approvals.approval import Ruling, Rulings
from evalgate.models.comparison.comparison import REGRESSIONS, ScenarioKey
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.models.run.trials import names_of_bad, statuses
from evalgate.scoring.wording import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from evalgate.models.approvals.approval import Approval, Approvals, ApprovalStatus
    from evalgate.models.comparison.comparison import Change
    from evalgate.models.run.run import Run, ScenarioResult

APPROVABLE = frozenset({"hard_fail", "new_hard_fail", "below_threshold", "broken", "regression"})
"""Words of `fail_on` that an approved scenario does not trigger."""
BAD = frozenset({"failed", "error", "not_evaluable"})
PROPOSED = "added by this pull request: it counts once merged, or with `approvals-from: head`"
MORE_FAILS = "more fails than was approved"
UNREAD = "a trial's recording"
UNKNOWN = "what is not known can't be approved"
NAMED = 3


class Failing(NamedTuple):
    """A scenario of the run with its change, which approvals are checked against."""

    scenario: ScenarioResult
    change: Change | None

    @property
    def is_worse(self) -> bool:
        """Whether there is anything to approve."""
        change = self.change
        moved = change is not None and (change.kind in REGRESSIONS or bool(change.increases))
        return moved or self.scenario.verdict != "PASS"

    @property
    def checks(self) -> set[str]:
        """Names of the checks that did not pass."""
        return names_of_bad(self.scenario.trials)

    @property
    def faults(self) -> set[str]:
        """The failed checks, and one more entry if a trace could not be read."""
        unread = "error" in statuses(self.scenario.trials)
        return self.checks | ({UNREAD} if unread else set())

    @property
    def is_known(self) -> bool:
        """Whether the scenario was evaluated; if not, it can't be approved."""
        return self.scenario.verdict not in NOT_EVALUATED

    @property
    def recordings(self) -> set[str | None]:
        """Fingerprints of the traces that did not pass, or of all traces if none failed."""
        trials = self.scenario.trials
        bad = [trial for trial in trials if trial.status != "passed"]
        return {trial.trace.sha256 for trial in bad or trials}


class _Finding(NamedTuple):
    """Why an approval does not hold; `status` is `active` if it does."""

    status: ApprovalStatus
    message: str = ""


HOLDS = _Finding("active")


def rule_on(run: Run, changes: Mapping[ScenarioKey, Change], approvals: Approvals, today: date) -> Rulings:
    """Rules on every approval, in file order, and finds which scenarios may fail because of them."""
    scenarios = scenarios_of(run, changes)
    found = [_alone(approval, scenarios, today) for approval in approvals.counting]
    held: dict[ScenarioKey, set[str | None]] = {}
    for approval, finding in zip(approvals.counting, found, strict=True):
        if finding is HOLDS:
            held.setdefault(_key(approval), set()).add(approval.assertion)
    left = {key: _uncovered(scenarios[key], names) for key, names in held.items()}
    told = [
        _ruling(approval, _together(finding, left.get(_key(approval), set())), today)
        for approval, finding in zip(approvals.counting, found, strict=True)
    ]
    told += [_ruling(approval, _Finding("proposed", PROPOSED), today) for approval in approvals.proposed]
    return Rulings(tuple(told), frozenset(key for key, names in left.items() if not names))


def rule_by_day(approvals: Iterable[Approval], today: date) -> tuple[Ruling, ...]:
    """Rules on approvals without a run: only the day decides."""
    return tuple(_ruling(each, _over(each, today) or HOLDS, today) for each in approvals)


def scenarios_of(run: Run, changes: Mapping[ScenarioKey, Change]) -> dict[ScenarioKey, Failing]:
    """Every scenario of a run with its change, by key."""
    return {
        key: Failing(scenario, changes.get(key))
        for suite in run.suites
        for scenario in suite.scenarios
        for key in [ScenarioKey(suite.name, scenario.id, scenario.variant)]
    }


def proposals(base: Iterable[Approval], head: Iterable[Approval]) -> tuple[Approval, ...]:
    """Approvals in a pull request's file that the base branch's file does not have."""
    known = {approval.scope for approval in base}
    return tuple(approval for approval in head if approval.scope not in known)


def _key(approval: Approval) -> ScenarioKey:
    return ScenarioKey(approval.suite, approval.scenario, approval.variant)


def _ruling(approval: Approval, finding: _Finding, today: date) -> Ruling:
    days = (approval.until - today).days
    return Ruling(approval, finding.status, finding.message or _lasts(days), days)


def _lasts(days: int) -> str:
    if days < 1:
        return "expires today"
    return f"expires in {days} day{'s' if days > 1 else ''}"


def _alone(approval: Approval, scenarios: Mapping[ScenarioKey, Failing], today: date) -> _Finding:
    """Checks one approval by itself: its day, its scenario, its check, its bounds."""
    over = _over(approval, today)
    if over is not None:
        return over
    failing = scenarios.get(_key(approval))
    if failing is None:
        return _Finding("unused", _no_such(approval, scenarios))
    if not failing.is_worse:
        return _Finding("unused", "the scenario passes: it is no longer needed")
    if not failing.is_known:
        verdict = spoken(failing.scenario.verdict)
        return _Finding("void", f"the scenario is {verdict}: {UNKNOWN}")
    if approval.assertion is not None and approval.assertion not in failing.checks:
        return _Finding("unused", f"the check {shorten(approval.assertion)} does not fail")
    return _outside(approval, failing)


def _over(approval: Approval, today: date) -> _Finding | None:
    if today <= approval.until:
        return None
    return _Finding("expired", f"expired on {approval.until.isoformat()}")


def _outside(approval: Approval, failing: Failing) -> _Finding:
    """Checks whether the failure exceeds what was approved."""
    kind = failing.change.kind if failing.change is not None else None
    if approval.change not in (None, kind):
        now = f"the change is {kind}" if kind else "nothing was compared"
        return _Finding("void", f"{now}, approved is {approval.change}")
    score, least = failing.scenario.score, approval.least_score
    if least is not None and (score is None or round(score, DIGITS) < round(least, DIGITS)):
        now = "the score is not known" if score is None else f"score {_shown(score, least)}"
        return _Finding("void", f"worse than approved: {now}, approved is {least:g}")
    if approval.traces and not failing.recordings <= approval.traces:
        return _Finding("void", "another recording fails than the one approved")
    more = failing.faults - approval.checks if approval.checks is not None else set[str]()
    return _Finding("void", f"{MORE_FAILS}: {_named(sorted(more))}") if more else HOLDS


def _shown(score: float, least: float) -> str:
    """The score with as many digits as it takes to show that it is lower."""
    return f"{score:.2f}" if float(f"{score:.2f}") < least else f"{score:.9g}"


def _no_such(approval: Approval, scenarios: Iterable[ScenarioKey]) -> str:
    """The run has no such scenario; if the scenario has variants, the approval must name one."""
    variants = [
        key.variant
        for key in scenarios
        if (key.suite, key.id) == (approval.suite, approval.scenario) and key.variant is not None
    ]
    if variants and approval.variant is None:
        return f"the scenario has variants, name one: {_named(variants)}"
    return "the run has no such scenario"


def _uncovered(failing: Failing, names: set[str | None]) -> set[str]:
    """Failures other than the approved checks; none if the scenario as a whole is approved."""
    return set() if None in names else {each for each in failing.faults if each not in names}


def _together(finding: _Finding, left: set[str]) -> _Finding:
    if finding is not HOLDS or not left:
        return finding
    return _Finding("void", f"{MORE_FAILS}: {_named(sorted(left))}")


def _named(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(map(shorten, names[:NAMED])) + (f" and {more} more" if more > 0 else "")
