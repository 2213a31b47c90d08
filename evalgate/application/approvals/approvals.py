"""Approvals of a run: which count, which are only proposed, and their rulings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.errors import InvalidInput, Problem, Unreachable
from evalgate.models.approvals.approval import Approvals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from evalgate.application.comparison.baseline_rules import BaselineRules
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.approvals.approval import Approval, ApprovalRulings
    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.run.run import Run
    from evalgate.ports import ApprovalSource, SuiteSource

UNREAD = "no approval counts, because those of the base commit can't be read"


def approvals_of(request: JudgeRequest, suites: SuiteSource) -> tuple[Approvals, list[Problem]]:
    """The approvals, and warnings about them. Raises SuiteError for errors this run can fix."""
    if request.approvals.is_off:
        return Approvals(), []
    from evalgate.gate.decision.approvals import find_proposals

    proposed = suites.load_approvals(request.approvals.proposed) if request.approvals.proposed is not None else []
    counting: Sequence[Approval] = []
    warnings: list[Problem] = []
    if request.approvals.file is not None:
        try:
            counting = suites.load_approvals(request.approvals.file)
        except InvalidInput as error:
            if not request.approvals.is_of_base:
                raise
            warnings = [problem._replace(message=f"{UNREAD}: {problem.message}") for problem in error.problems]
    given: Sequence[Approval] = ()
    if request.approvals.consents:
        from evalgate.application.approvals.approve_change import resolve_consents

        given, refused = resolve_consents(request.approvals.consents)
        warnings += [Problem(f"{consent.label} does not count: {why}") for consent, why in refused]
    return Approvals((*counting, *request.approvals.remembered, *given), find_proposals(counting, proposed)), warnings


def rule_on_approvals(
    run: Run, comparison: Comparison | None, approvals: Approvals, today: date, base: BaselineRules | None
) -> ApprovalRulings:
    """Rules on the approvals; flags the changes of approved scenarios. `base` has the suites of the base."""
    from evalgate.application.comparison.baseline_rules import list_base_checks
    from evalgate.gate.decision.approvals import rule_on_approvals

    changes = comparison.changes if comparison is not None else {}
    rulings = rule_on_approvals(run, changes, approvals, today, partial(list_base_checks, base))
    for key in rulings.approved & changes.keys():
        changes[key].flags.append("approved")
    return rulings


def with_approvals(
    request: JudgeRequest, counting: ApprovalSource | None, proposed: ApprovalSource | None
) -> JudgeRequest:
    """Adds the approvals files to the request.

    For a pull request, another commit's approvals count and its own are proposals: errors in the former are
    only noted. Raises InvalidInput for errors this run can fix.
    """
    of_base = proposed is not None
    file, notes = None, list(request.notes)
    try:
        file = counting.read() if counting is not None else None
    except (Unreachable, InvalidInput) as trouble:
        if not of_base:
            raise
        notes.append(f"{UNREAD}: {trouble}")
    proposed_file = proposed.read() if proposed is not None else None
    approvals = replace(request.approvals, file=file, is_of_base=of_base, proposed=proposed_file)
    return replace(request, approvals=approvals, notes=notes)
