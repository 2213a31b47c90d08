"""Approvals for failures of a finished run, and all approvals of a project with their status.

A person names the scenario, the results give the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.documents.run_documents import changes_of, run_of
from evalgate.application.documents.untrusted_report import report_of
from evalgate.application.evaluation.scenario_selection import choose_id
from evalgate.errors import InvalidInput, Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.gate.decision.approvals import collect_subjects, rule_by_date, rule_on_approvals
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.text.ids import suggest_id
from evalgate.models.approvals.approval import Approval, Approvals
from evalgate.models.history.stored_run import RunApproval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime

    from evalgate.gate.decision.approvals import ApprovalSubject
    from evalgate.models.approvals.approval import ApprovalRuling, StoredApproval
    from evalgate.models.approvals.review import CommentApproval
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
        if found.is_worse and found.unknown is None and request.suite in (None, key.suite)
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
    ids = (key.id for key in scenarios if request.suite in (None, key.suite))
    id_ = choose_id(request.scenario, ids, f"these results have no scenario `{request.scenario}`")
    keys = [
        key
        for key in scenarios
        if key.id == id_ and request.suite in (None, key.suite) and request.variant in (None, key.variant)
    ]
    if len(keys) == 1:
        return keys[0]
    if not keys:
        raise SettingError(f"scenario `{id_}` has no variant `{request.variant}` in these results")
    flags = [f"--suite {key.suite}{f' --variant {key.variant}' if key.variant else ''}" for key in keys]
    hint = f"add one of: {'; '.join(flags[:MOST_NAMED])}"
    raise SettingError(Problem(f"{len(keys)} scenarios have this id", None, hint))


def _require_approvable(key: ScenarioKey, found: ApprovalSubject, request: ApprovalRequest) -> None:
    """Raises SettingError if there is nothing of this kind to approve."""
    if not found.is_worse:
        raise SettingError(f"scenario `{key.id}` passes: there is nothing to approve")
    if found.unknown is not None:
        raise SettingError(f"scenario `{key.id}` {found.unknown}")
    names = {each.name for each in found.failed_checks}
    if request.assertion is not None and request.assertion not in names:
        hint = suggest(request.assertion, names)
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
        covers=_list_covered(found, request.assertion),
    )


def _list_covered(found: ApprovalSubject, assertion: str | None) -> frozenset[str] | None:
    """Digests of the checks that fail now, or of those of one name; None if the results are of an earlier version."""
    if assertion is None or found.digests is None:
        return found.digests
    named = (each.digest for each in found.failed_checks if each.name == assertion)
    return frozenset(digest for digest in named if digest is not None)


class ListedApproval(NamedTuple):
    """The ruling on one approval; `id` is its id in the store, None if it comes from the file."""

    ruling: ApprovalRuling
    id: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has expired."""
        return self.ruling.status == "expired"


def list_approvals(
    in_file: Sequence[Approval], stored: Sequence[StoredApproval], finished: ResultsDoc | None, today: date
) -> list[ListedApproval]:
    """Those of the file, then those of the store, oldest first.

    With a finished run, they are ruled on by its results, otherwise by date alone. Approvals in comments are
    always ruled on by date, since they count for one commit of a pull request.
    """
    own = [each for each in stored if each.withdrawn_at is None and each.provenance.source != "comment"]
    counting = [*in_file, *(each.approval for each in own)]
    rulings = _rulings(counting, finished, today)
    by_id = {each.id: ruling for each, ruling in zip(own, rulings[len(in_file) :], strict=True)}
    return [
        *(ListedApproval(ruling) for ruling in rulings[: len(in_file)]),
        *(ListedApproval(by_id.get(each.id) or _rule_separately(each, today), each.id) for each in stored),
    ]


def _rulings(approvals: Sequence[Approval], finished: ResultsDoc | None, today: date) -> Sequence[ApprovalRuling]:
    if finished is None:
        return rule_by_date(approvals, today)

    return rulings_on(finished, approvals, today)


def _rule_separately(stored: StoredApproval, today: date) -> ApprovalRuling:
    """The ruling on an approval that was withdrawn or counts elsewhere."""
    (ruling,) = rule_by_date([stored.approval], today)
    if stored.withdrawn_at is None:
        return ruling
    return ruling._replace(status="expired", message=f"withdrawn on {stored.withdrawn_at.date().isoformat()}")


NOTHING = "there is no failure to approve"


class ConsentedFailures(NamedTuple):
    """The approvals, and the comment approvals that yield none, each with the reason."""

    approvals: tuple[Approval, ...] = ()
    refused: tuple[tuple[CommentApproval, str], ...] = ()


def resolve_consents(consents: Iterable[CommentApproval]) -> ConsentedFailures:
    """Looks up each comment approval in the report that its author saw."""
    read: dict[bytes, Scenarios | str] = {}
    approvals: list[Approval] = []
    refused: list[tuple[CommentApproval, str]] = []
    for consent in consents:
        if consent.report not in read:
            read[consent.report] = _load_scenarios(consent)
        scenarios = read[consent.report]
        keys = scenarios if isinstance(scenarios, str) else _find_scenarios(consent.scenario, scenarios)
        if isinstance(keys, str) or isinstance(scenarios, str):
            refused.append((consent, str(keys)))
        else:
            approvals += [_approval_by_comment(consent, key, scenarios[key]) for key in keys]
    return ConsentedFailures(tuple(approvals), tuple(refused))


def _load_scenarios(consent: CommentApproval) -> Scenarios | str:
    try:
        document = report_of(consent.report, consent.provenance.head_commit)
    except InvalidInput as error:
        return f"the report it refers to can't be used: {error.problems[0].message}"
    return collect_subjects(run_of(document), changes_of(document))


def _find_scenarios(name: str | None, scenarios: Scenarios) -> Sequence[ScenarioKey] | str:
    """The scenarios of that name, or all that fail; a message if none can be approved."""
    if name is None:
        return [key for key, found in scenarios.items() if found.is_worse and found.unknown is None] or NOTHING
    keys = [key for key in scenarios if name in key.spellings]
    if len(keys) != 1:
        return _describe_ambiguity(keys) if keys else _describe_unknown(name, scenarios)
    found = scenarios[keys[0]]
    if not found.is_worse:
        return f"scenario {name} passes: there is nothing to approve"
    if found.unknown is not None:
        return f"scenario {name} {found.unknown}"
    return keys


def _describe_ambiguity(keys: Sequence[ScenarioKey]) -> str:
    names = [f"`{key.suite}/{key.id}`" for key in keys[:MOST_NAMED]]
    return f"{len(keys)} suites have a scenario of this name: write {' or '.join(names)}"


def _describe_unknown(name: str, scenarios: Scenarios) -> str:
    variants = [f"`{key.id}/{key.variant}`" for key in scenarios if key.id == name and key.variant is not None]
    if variants:
        return f"scenario {name} has variants: write {' or '.join(variants[:MOST_NAMED])}"
    hint = suggest_id(name, {key.id for key in scenarios})
    return f"the run has no scenario {name}{f' ({hint})' if hint else ''}"


def _approval_by_comment(consent: CommentApproval, key: ScenarioKey, found: ApprovalSubject) -> Approval:
    """Bound to the failure as reported: no lower score, no other failed assertion."""
    return Approval(
        suite=key.suite,
        scenario=key.id,
        variant=key.variant,
        assertion=None,
        change=None,
        least_score=found.scenario.score,
        reason=consent.reason,
        who=consent.who,
        until=consent.until,
        traces=frozenset(),
        location=None,
        checks=frozenset(each.name for each in found.failures),
        provenance=consent.provenance,
        covers=found.digests,
    )
