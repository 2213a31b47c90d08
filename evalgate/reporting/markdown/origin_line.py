"""The line that names the run a report was made by, if another run publishes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import escape_span

if TYPE_CHECKING:
    from evalgate.models.approvals.triggering_run import TriggeringRun

SHORT_SHA = 7


def format_origin(run: TriggeringRun, run_url: str) -> str:
    """Formats one line of Markdown; a fork's own results are marked as unverified."""
    where = f"Evaluated in [run {run.id}]({run_url}) at {escape_span(run.head_sha[:SHORT_SHA])}"
    if run.is_same_repository:
        return f"{where}."
    repository = escape_span(run.head_repository, 200)
    return f"{where} of {repository}: a fork's own run, whose figures nobody else has checked."
