"""Posts the verdict as a separate check run, if the workflow asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.action.post_comment import add_annotation
from evalgate.errors import Forbidden, Unreachable
from evalgate.models.github.checks import CheckRun
from evalgate.models.run.chunks import join_chunks
from evalgate.reporting.text.escaping import escape_span

if TYPE_CHECKING:
    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.models.github.checks import Conclusion
    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports import CheckRuns, StepOutput

LONGEST_SUMMARY = 65_535
MOST_REASONS = 50
REFUSED = "the check run was not written"


def post_check(request: JudgeRequest, judgement: Judgement, checks: CheckRuns, step: StepOutput) -> None:
    """Posts the check run. If GitHub refuses, it adds a warning and nothing else changes."""
    check = build_check_run(request, judgement)
    if check is None:
        return
    try:
        checks.post(check)
    except Forbidden as refusal:
        message = f"{REFUSED}: {refusal}. It needs `checks: write`"
    except Unreachable as trouble:
        message = f"{REFUSED}: {trouble}"
    else:
        return
    add_annotation(step, "warning", message)


def build_check_run(request: JudgeRequest, judgement: Judgement) -> CheckRun | None:
    """Builds the check run; None if the commit to attach it to is unknown."""
    results = judgement.results
    if request.commit is None:
        return None
    heading = judgement.heading
    return CheckRun(
        name=f"EvalGate ({request.comment_key})",
        commit=request.commit,
        conclusion=conclusion(results),
        title=heading[:1].upper() + heading[1:],
        summary=_summary(judgement) or f"EvalGate {heading}",
        annotations=judgement.annotations,
        details_url=request.report_url,
    )


def conclusion(results: ResultsDoc) -> Conclusion:
    """`failure` if the step fails; `neutral` if it would fail but nothing is blocked."""
    if results["verdict"] == "pass":
        return "success"
    return "failure" if results["exit_code"] else "neutral"


def _summary(judgement: Judgement) -> str:
    """The comment without its marker, which belongs to comments only; without a comment, the reasons."""
    comment = join_chunks(judgement.files.get("comment.md", b"")).decode().partition("\n")[2]
    if comment and len(comment) <= LONGEST_SUMMARY:
        return comment
    reasons = judgement.results["reasons"]
    lines = [f"- {escape_span(reason['message'])}" for reason in reasons[:MOST_REASONS]]
    left = len(reasons) - MOST_REASONS
    return "\n".join([*lines, *([f"- {left:,} more are in results.json"] if left > 0 else [])])
