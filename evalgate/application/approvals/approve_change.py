"""Builds approvals for failures of a finished run: a person names the scenario, the results give the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.documents.run_documents import changes_of, run_of
from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.gate.common.wording import format_verdict
from evalgate.gate.decision.approvals import NOT_APPROVABLE, collect_subjects, rule_on_approvals
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.approvals.approval import Approval, Approvals
from evalgate.models.store.stored_run import RunApproval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from evalgate.gate.decision.approvals import ApprovalSubject
    from evalgate.models.approvals.approval import ApprovalRuling
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.results.results import ResultsDoc

    Scenarios = Mapping[ScenarioKey, ApprovalSubject]

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
    only_these_traces: bool = False


def approvals_for(results: ResultsDoc, request: ApprovalRequest) -> list[Approval]:
    """The approvals that let it pass; raises SettingError if nothing fails that way or exists."""
    scenarios = collect_subjects(run_of(results), changes_of(results))
    if request.scenario != ALL:
        key = _find_scenario(scenarios, request)
        _require_approvable(key, scenarios[key], request)
        return [_build_approval(key, scenarios[key], request)]
    failing = {
        key: found
        for key, found in scenarios.items()
        if found.is_worse and found.is_known and request.suite in (None, key.suite)
    }
    if not failing:
        raise SettingError("there is no failure to approve")
    return [_build_approval(key, found, request) for key, found in failing.items()]


def rulings_on(results: ResultsDoc, approvals: Sequence[Approval], today: date) -> Sequence[ApprovalRuling]:
    """Rules on approvals in a finished run."""
    return rule_on_approvals(run_of(results), changes_of(results), Approvals(tuple(approvals)), today).rulings


def decision_on(results: ResultsDoc, approvals: Sequence[Approval], now: datetime) -> RunApproval | None:
    """The run's approval, in the last approver's name, once every failure in it is approved."""
    run, changes = run_of(results), changes_of(results)
    failing = {
        key
        for key, found in collect_subjects(run, changes).items()
        if found.is_worse and not found.scenario.quarantined
    }
    approved = rule_on_approvals(run, changes, Approvals(tuple(approvals)), now.date()).approved
    if not failing <= approved:
        return None
    return RunApproval("approved", approvals[-1].who, approvals[-1].reason, now)


def _find_scenario(scenarios: Scenarios, request: ApprovalRequest) -> ScenarioKey:
    ids = {key.id for key in scenarios if request.suite in (None, key.suite)}
    if request.scenario not in ids:
        hint = suggest(request.scenario, ids)
        raise SettingError(Problem(f"these results have no scenario `{request.scenario}`", None, hint))
    keys = [
        key
        for key in scenarios
        if key.id == request.scenario and request.suite in (None, key.suite) and request.variant in (None, key.variant)
    ]
    if len(keys) == 1:
        return keys[0]
    if not keys:
        raise SettingError(f"scenario `{request.scenario}` has no variant `{request.variant}` in these results")
    flags = [f"--suite {key.suite}{f' --variant {key.variant}' if key.variant else ''}" for key in keys]
    hint = f"add one of: {'; '.join(flags[:MOST_NAMED])}"
    raise SettingError(Problem(f"{len(keys)} scenarios have this id", None, hint))


def _require_approvable(key: ScenarioKey, found: ApprovalSubject, request: ApprovalRequest) -> None:
    """Raises SettingError if there is nothing of this kind to approve."""
    if not found.is_worse:
        raise SettingError(f"scenario `{key.id}` passes: there is nothing to approve")
    if not found.is_known:
        raise SettingError(f"scenario `{key.id}` is {format_verdict(found.scenario.verdict)}: {NOT_APPROVABLE}")
    if request.assertion is not None and request.assertion not in found.failed_checks:
        hint = suggest(request.assertion, found.failed_checks)
        raise SettingError(Problem(f"it has no failed check `{request.assertion}`", None, hint))
    kind = found.change.kind if found.change is not None else None
    if request.change not in (None, kind):
        now = f"it is {kind}" if kind else "nothing was compared"
        raise SettingError(f"scenario `{key.id}` is not {request.change}: {now}")
    score = found.scenario.score
    if request.least_score is not None and score is not None and score < request.least_score:
        raise SettingError(f"its score {score:g} is already below the limit of {request.least_score:g}")


def _build_approval(key: ScenarioKey, found: ApprovalSubject, request: ApprovalRequest) -> Approval:
    score = found.scenario.score
    least = request.least_score if request.least_score is not None or score is None else round(score, DIGITS)
    trace_hashes = {sha256 for sha256 in found.trace_hashes if sha256 is not None}
    return Approval(
        suite=key.suite,
        scenario=key.id,
        variant=key.variant,
        assertion=request.assertion,
        change=request.change,
        least_score=least or None,
        reason=request.reason,
        who=request.who,
        until=request.until,
        traces=frozenset(trace_hashes if request.only_these_traces else ()),
        location=None,
    )
