"""What a comment approves: the failures in the report that its author saw, and nothing worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.documents.run_documents import changes_of, run_of
from evalgate.application.documents.untrusted_report import report_of
from evalgate.errors import InvalidInput
from evalgate.evaluators.core.field_problems import suggest
from evalgate.gate.common.wording import format_verdict
from evalgate.gate.decision.approvals import NOT_APPROVABLE, collect_subjects
from evalgate.models.approvals.approval import Approval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.gate.decision.approvals import ApprovalSubject
    from evalgate.models.approvals.review import CommentApproval
    from evalgate.models.comparison.comparison import ScenarioKey

    Scenarios = Mapping[ScenarioKey, ApprovalSubject]

MOST_NAMED = 5
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
            approvals += [_build_approval(consent, key, scenarios[key]) for key in keys]
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
        return [key for key, found in scenarios.items() if found.is_worse and found.is_known] or NOTHING
    keys = [key for key in scenarios if name in key.spellings]
    if len(keys) != 1:
        return _describe_ambiguity(keys) if keys else _describe_unknown(name, scenarios)
    found = scenarios[keys[0]]
    if not found.is_worse:
        return f"scenario {name} passes: there is nothing to approve"
    if not found.is_known:
        return f"scenario {name} is {format_verdict(found.scenario.verdict)}: {NOT_APPROVABLE}"
    return keys


def _describe_ambiguity(keys: Sequence[ScenarioKey]) -> str:
    names = [f"`{key.suite}/{key.id}`" for key in keys[:MOST_NAMED]]
    return f"{len(keys)} suites have a scenario of this name: write {' or '.join(names)}"


def _describe_unknown(name: str, scenarios: Scenarios) -> str:
    variants = [f"`{key.id}/{key.variant}`" for key in scenarios if key.id == name and key.variant is not None]
    if variants:
        return f"scenario {name} has variants: write {' or '.join(variants[:MOST_NAMED])}"
    hint = suggest(name, {key.id for key in scenarios})
    return f"the run has no scenario {name}{f' ({hint})' if hint else ''}"


def _build_approval(consent: CommentApproval, key: ScenarioKey, found: ApprovalSubject) -> Approval:
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
        checks=frozenset(found.failures),
        provenance=consent.provenance,
    )
