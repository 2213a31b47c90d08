"""Builds approvals for failures of a finished run: a person names the scenario, the results give the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.documents.finished_changes import changes_of
from evalgate.application.documents.run_documents import run_of
from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.gate.common.wording import spoken
from evalgate.gate.decision.approvals import UNKNOWN, rule_on, scenarios_of
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.approvals.approval import Approval, Approvals
from evalgate.models.store.stored_run import RunApproval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from evalgate.gate.decision.approvals import Failing
    from evalgate.models.approvals.approval import Ruling
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.results.results import ResultsDoc

    Scenarios = Mapping[ScenarioKey, Failing]

ALL = "all"
MOST_NAMED = 5


class ApprovalRequest(NamedTuple):
    """What a person wants to approve. Fields that are None do not narrow it.

    `least_score` is the lowest score they accept: None for the current score, 0 for any. With
    `only_these_traces` only the traces that failed may fail.
    """

    scenario: str
    reason: str
    who: str
    until: date
    suite: str | None = None
    variant: str | None = None
    assertion: str | None = None
    change: str | None = None
    least_score: float | None = None
    these_recordings: bool = False


def approvals_for(results: ResultsDoc, wish: ApprovalRequest) -> list[Approval]:
    """The approvals that let it pass; raises SettingError if nothing fails that way or exists."""
    scenarios = scenarios_of(run_of(results), changes_of(results))
    if wish.scenario != ALL:
        key = _one(scenarios, wish)
        _check(key, scenarios[key], wish)
        return [_approval(key, scenarios[key], wish)]
    failing = {
        key: found
        for key, found in scenarios.items()
        if found.is_worse and found.is_known and wish.suite in (None, key.suite)
    }
    if not failing:
        raise SettingError("nothing fails that could be approved")
    return [_approval(key, found, wish) for key, found in failing.items()]


def rulings_on(results: ResultsDoc, approvals: Sequence[Approval], today: date) -> Sequence[Ruling]:
    """Rules on approvals in a finished run."""
    return rule_on(run_of(results), changes_of(results), Approvals(tuple(approvals)), today).told


def decision_on(results: ResultsDoc, approvals: Sequence[Approval], now: datetime) -> RunApproval | None:
    """The run's approval, in the last approver's name, once every failure in it is approved."""
    run, changes = run_of(results), changes_of(results)
    failing = {
        key
        for key, found in scenarios_of(run, changes).items()
        if found.is_worse and not found.scenario.quarantined
    }
    approved = rule_on(run, changes, Approvals(tuple(approvals)), now.date()).approved
    if not failing <= approved:
        return None
    return RunApproval("approved", approvals[-1].who, approvals[-1].reason, now)


def _one(scenarios: Scenarios, wish: ApprovalRequest) -> ScenarioKey:
    ids = {key.id for key in scenarios if wish.suite in (None, key.suite)}
    if wish.scenario not in ids:
        hint = suggest(wish.scenario, ids)
        raise SettingError(Problem(f"these results have no scenario `{wish.scenario}`", None, hint))
    keys = [
        key
        for key in scenarios
        if key.id == wish.scenario and wish.suite in (None, key.suite) and wish.variant in (None, key.variant)
    ]
    if len(keys) == 1:
        return keys[0]
    if not keys:
        raise SettingError(f"scenario `{wish.scenario}` has no variant `{wish.variant}` here")
    ways = [f"--suite {key.suite}{f' --variant {key.variant}' if key.variant else ''}" for key in keys]
    hint = f"add one of: {'; '.join(ways[:MOST_NAMED])}"
    raise SettingError(Problem(f"{len(keys)} scenarios have this id", None, hint))


def _check(key: ScenarioKey, found: Failing, wish: ApprovalRequest) -> None:
    """Raises SettingError if there is nothing of this kind to approve."""
    if not found.is_worse:
        raise SettingError(f"scenario `{key.id}` passes: there is nothing to approve")
    if not found.is_known:
        raise SettingError(f"scenario `{key.id}` is {spoken(found.scenario.verdict)}: {UNKNOWN}")
    if wish.assertion is not None and wish.assertion not in found.checks:
        hint = suggest(wish.assertion, found.checks)
        raise SettingError(Problem(f"no check `{wish.assertion}` of it fails", None, hint))
    kind = found.change.kind if found.change is not None else None
    if wish.change not in (None, kind):
        now = f"it is {kind}" if kind else "nothing was compared"
        raise SettingError(f"scenario `{key.id}` is not {wish.change}: {now}")
    score = found.scenario.score
    if wish.least_score is not None and score is not None and score < wish.least_score:
        raise SettingError(f"its score is {score:g} already, below the limit of {wish.least_score:g}")


def _approval(key: ScenarioKey, found: Failing, wish: ApprovalRequest) -> Approval:
    score = found.scenario.score
    least = wish.least_score if wish.least_score is not None or score is None else round(score, DIGITS)
    recordings = {sha256 for sha256 in found.recordings if sha256 is not None}
    return Approval(
        suite=key.suite,
        scenario=key.id,
        variant=key.variant,
        assertion=wish.assertion,
        change=wish.change,
        least_score=least or None,
        reason=wish.reason,
        who=wish.who,
        until=wish.until,
        traces=frozenset(recordings if wish.these_recordings else ()),
        location=None,
    )
