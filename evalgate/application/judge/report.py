"""Renders what the judge found into the documents it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.comparison.baseline import LoadedBaseline
from evalgate.application.documents.comment_template import CommentOptions, write_comment
from evalgate.application.judge.rerun_command import command_of
from evalgate.application.messages.request import Judgement
from evalgate.gate.comparison.run_statistics import figures_of_run
from evalgate.models.comparison.decision import Decision, Reason
from evalgate.models.run.run import Run
from evalgate.records import dataclass
from evalgate.reporting.ci.annotations import annotations_of
from evalgate.reporting.ci.junit import junit
from evalgate.reporting.markdown.heading import heading
from evalgate.reporting.markdown.render import render_summary
from evalgate.reporting.results.results_json import dump, invalid_document, results_document
from evalgate.reporting.results.results_writer import written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.application.messages.request import JudgeRequest
    from evalgate.errors import InvalidInput, Problem, RulesMissing, ShardMissing, Unreachable
    from evalgate.models.approvals.approval import Ruling
    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.comparison.quarantine import QuarantineRuling
    from evalgate.models.comparison.weakening import Weakenings
    from evalgate.models.results.results_rules import RulesDoc
    from evalgate.models.run.chunks import Content
    from evalgate.models.trace.trace import Warning_


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything known once the decision is made."""

    run: Run
    comparison: Comparison | None
    decision: Decision
    baseline: LoadedBaseline
    warnings: Sequence[Problem]
    rulings: Sequence[Ruling] = ()
    weakenings: Weakenings | None = None
    quarantines: Sequence[QuarantineRuling] = ()
    rules: RulesDoc | None = None


def report(request: JudgeRequest, found: Findings, now: datetime) -> Judgement:
    """The documents of a run, all rendered from its results."""
    results = results_document(
        found.run,
        found.comparison,
        found.decision,
        baseline=found.baseline.info,
        previous=found.baseline.results.summary if found.baseline.results else None,
        commit=request.commit,
        created_at=now,
        warnings=[warning_of(problem) for problem in found.warnings],
        command=command_of(request, found.baseline.info),
        figures=figures_of_run(found.run, found.comparison),
        rulings=found.rulings,
        weakenings=found.weakenings,
        quarantines=found.quarantines,
        rules=found.rules,
    )
    if request.history is not None:
        from evalgate.application.history.history_section import tell_history

        tell_history(results, request.history, found.run, now, request.run_id)
    wording = CommentOptions(
        request.comment_key, request.max_comment_chars, request.report_url, template=request.template
    )
    comment, warnings = write_comment(results, wording)
    files: dict[str, Content] = {
        "results.json": written(results),
        "comment.md": comment.encode(),
        "summary.md": render_summary(results, report_url=request.report_url).encode(),
        "junit.xml": junit(results),
    }
    if request.sarif:
        from evalgate.reporting.ci.sarif import sarif

        files["results.sarif"] = sarif(results, request.folder)
    return Judgement(
        results,
        files,
        annotations_of(results, request.folder),
        warnings=warnings,
        heading=heading(results).text,
    )


def invalid(request: JudgeRequest, error: InvalidInput, now: datetime) -> Judgement:
    """The answer to invalid input: its problems, and nothing that could be taken for a result."""
    results = invalid_document(
        error.problems, error.code, commit=request.commit, created_at=now, report_only=request.report_only
    )
    return Judgement(
        results,
        {"results.json": dump(results)},
        annotations_of(results, request.folder),
        error.problems,
        heading=heading(results).text,
    )


def incomplete(
    request: JudgeRequest, error: RulesMissing | ShardMissing | Unreachable, now: datetime
) -> Judgement:
    """The answer if a part of the run is missing: the rest is left out, since it would mislead."""
    code = 0 if request.report_only else error.exit_code
    reasons = [Reason(error.code, problem.message) for problem in error.problems]
    decision = Decision("cannot_judge", code, reasons, report_only=request.report_only)
    return report(request, Findings(Run([]), None, decision, LoadedBaseline(request.baseline), []), now)


def warning_of(problem: Problem) -> Warning_:
    """Converts a problem to a warning of the document."""
    message = f"{problem.message} ({problem.hint})" if problem.hint else problem.message
    return {"code": "note", "message": message, "where": str(problem.location) if problem.location else None}
