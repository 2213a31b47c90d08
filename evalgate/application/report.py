"""From what the judge found to the documents it hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalgate.application.reproduce import command_of
from evalgate.application.request import Judgement
from evalgate.reporting.annotations import annotations_of
from evalgate.reporting.exports.junit import junit
from evalgate.reporting.exports.results_json import dump, invalid_document, results_document
from evalgate.reporting.render import render_comment, render_summary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.application.baseline import KnownBaseline
    from evalgate.application.request import JudgeRequest
    from evalgate.errors import InvalidInput, Problem
    from evalgate.models.comparison import Comparison
    from evalgate.models.decision import Decision
    from evalgate.models.run import Run
    from evalgate.models.trace import Warning_


@dataclass(frozen=True, slots=True)
class Findings:
    """All that is known once the decision has fallen."""

    run: Run
    comparison: Comparison | None
    decision: Decision
    baseline: KnownBaseline
    warnings: Sequence[Problem]


def report(request: JudgeRequest, found: Findings, now: datetime) -> Judgement:
    """The documents of a run, all rendered from its results."""
    results = results_document(
        found.run,
        found.comparison,
        found.decision,
        baseline=found.baseline.info,
        previous=found.baseline.results["summary"] if found.baseline.results else None,
        commit=request.commit,
        created_at=now,
        warnings=[_warning(problem) for problem in found.warnings],
        command=command_of(request, found.baseline.info),
    )
    comment = render_comment(
        results, key=request.comment_key, max_chars=request.max_comment_chars, report_url=request.report_url
    )
    files = {
        "results.json": dump(results),
        "comment.md": comment.encode(),
        "summary.md": render_summary(results, report_url=request.report_url).encode(),
        "junit.xml": junit(results),
    }
    return Judgement(results, files, annotations_of(results))


def invalid(request: JudgeRequest, error: InvalidInput, now: datetime) -> Judgement:
    """The answer to wrong input: what is wrong, and nothing that could be taken for a result."""
    results = invalid_document(
        error.problems, error.code, commit=request.commit, created_at=now, report_only=request.report_only
    )
    return Judgement(results, {"results.json": dump(results)}, annotations_of(results), error.problems)


def _warning(problem: Problem) -> Warning_:
    message = f"{problem.message} ({problem.hint})" if problem.hint else problem.message
    return {"code": "note", "message": message, "where": str(problem.location) if problem.location else None}
