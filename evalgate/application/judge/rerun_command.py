"""Builds the shell command that repeats a run, for the end of its report."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.comparison.comparison import BaselineInfo

ARTIFACT = "baseline.zip"
"""The file name of a downloaded baseline artifact."""
DOWNLOADED = frozenset({"exact", "ancestor", "latest", "drifted"})


def build_rerun_command(request: JudgeRequest, baseline: BaselineInfo | None) -> str:
    """`evalgate run` with everything that determined this run, quoted for a shell."""
    words = ["evalgate", "run", *request.configs]
    for pattern in request.traces or ():
        words += ["--traces", pattern]
    if request.form is not None:
        words += ["--format", request.form]
    if baseline is not None and baseline.status in DOWNLOADED:
        words += ["--baseline", ARTIFACT]
    elif baseline is not None and baseline.path is not None:
        words += ["--baseline", baseline.path]
    if request.fail_on is not None:
        words += ["--fail-on", ",".join(request.fail_on)]
    if request.report_only:
        words.append("--report-only")
    return shlex.join(words)
