"""Adds approvals given in comments meanwhile to a gate run that was restarted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.application.approvals.comment_approvals import CommentVerifier, VerifiedComments
from evalgate.errors import Unreachable

if TYPE_CHECKING:
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.ports import ReportFiles, StepOutput
    from evalgate.ports.review import Review

MAX_LISTED = 20
UNCOUNTED = "approvals in comments do not count"


def with_consents(
    request: JudgeRequest, review: Review, files: ReportFiles, step: StepOutput, *, allow_self: bool
) -> JudgeRequest:
    """Adds the comment approvals of its pull request to the request; notes what does not count.

    Comments of people without write access appear in the log only. If the lookup fails, nothing is approved.
    """
    try:
        found = _verify_comments(request, review, files, allow_self=allow_self)
    except Unreachable as trouble:
        found = f"{UNCOUNTED}: {trouble}"
    if isinstance(found, str):
        return replace(request, notes=[*request.notes, found])
    for refusal in found.refusals[:MAX_LISTED]:
        step.log(str(refusal))
    messages = [str(refusal) for refusal in found.refusals if refusal.is_known]
    return replace(request, consents=found.consents, notes=[*request.notes, *messages[:MAX_LISTED]])


def _verify_comments(
    request: JudgeRequest, review: Review, files: ReportFiles, *, allow_self: bool
) -> VerifiedComments | str:
    """The verified comments, or a message if this run is not the newest one of the pull request."""
    change = review.change()
    if change.head_sha != request.commit:
        return f"{UNCOUNTED}: the pull request has a newer commit"
    runs = review.gate_runs(change)
    if not runs or str(runs[0].run.id) != request.run_id:
        return f"{UNCOUNTED}: there is a newer run of this gate"
    return CommentVerifier(review, files, change, runs, allow_self=allow_self).verify_comments()
