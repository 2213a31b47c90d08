"""A run of the gate that was started over counts what people have approved in comments meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.approvals.comment_approvals import CommentVerifier, VerifiedComments
from evalgate.errors import Unreachable
from evalgate.records import replace

if TYPE_CHECKING:
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.ports import ReportFiles, StepOutput
    from evalgate.ports.review import Review

MOST_TOLD = 20
UNCOUNTED = "no approval by comment counts"


def with_consents(
    request: JudgeRequest, review: Review, files: ReportFiles, step: StepOutput, *, allow_self: bool
) -> JudgeRequest:
    """The request with the consents of its pull request; what does not count is noted.

    Of strangers, who may comment as they like, only the log tells. What can't be looked up approves nothing.
    """
    try:
        found = _vetted(request, review, files, allow_self=allow_self)
    except Unreachable as trouble:
        found = f"{UNCOUNTED}: {trouble}"
    if isinstance(found, str):
        return replace(request, notes=[*request.notes, found])
    for refusal in found.refusals[:MOST_TOLD]:
        step.log(str(refusal))
    known = [str(refusal) for refusal in found.refusals if refusal.is_known]
    return replace(request, consents=found.consents, notes=[*request.notes, *known[:MOST_TOLD]])


def _vetted(
    request: JudgeRequest, review: Review, files: ReportFiles, *, allow_self: bool
) -> VerifiedComments | str:
    """What the comments say; a text where this run is not the one that they are about."""
    change = review.change()
    if change.head_sha != request.commit:
        return f"{UNCOUNTED}: the pull request has moved on"
    runs = review.gate_runs(change)
    if not runs or str(runs[0].run.id) != request.run_id:
        return f"{UNCOUNTED}: there is a newer run of this gate"
    return CommentVerifier(review, files, change, runs, allow_self=allow_self).vetted()
