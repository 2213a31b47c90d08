"""Builds `results.json` from a finished run, writes it, and reads it back as untrusted data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from evalgate.errors import OverLimit, SettingError
from evalgate.models.results.document_names import RESULTS_SCHEMA
from evalgate.models.run.chunks import join_chunks
from evalgate.reporting.results.clean_values import clean_text
from evalgate.reporting.results.results_parts import (
    build_baseline_doc,
    build_problem_doc,
    build_reason_doc,
    build_removed_doc,
    build_suite_doc,
    build_unclaimed_doc,
    build_warning_doc,
)
from evalgate.reporting.results.results_writer import stream_results
from evalgate.reporting.results.statistics_doc import build_comparison_doc, build_statistics_doc
from evalgate.reporting.results.summary import build_summary
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.errors import Problem
    from evalgate.models.approvals.approval import ApprovalRuling
    from evalgate.models.comparison.comparison import BaselineInfo, Comparison
    from evalgate.models.comparison.decision import Decision
    from evalgate.models.comparison.weakening import QuarantineRuling, WeakeningList
    from evalgate.models.results.results import ResultsDoc, SummaryDoc
    from evalgate.models.results.results_sections import ApprovalDoc, RulesDoc
    from evalgate.models.run.run import Run
    from evalgate.models.run.run_statistics import RunStatistics
    from evalgate.models.trace.trace import Warning_

MAX_BYTES = 256_000_000
"""The largest document that is read, in bytes; a whole baseline unpacked must fit."""
MAX_CONTAINERS, MAX_VALUES = 3_000_000, 15_000_000
"""Most brackets and commas of a document: `[],[],` takes 20 times its bytes in memory."""


def build_results_document(  # noqa: PLR0913  the document has all of it
    run: Run,
    comparison: Comparison | None,
    decision: Decision,
    *,
    baseline: BaselineInfo | None,
    commit: str | None,
    created_at: datetime,
    warnings: Sequence[Warning_] = (),
    baseline_summary: SummaryDoc | None = None,
    command: str | None = None,
    statistics: RunStatistics | None = None,
    rulings: Sequence[ApprovalRuling] = (),
    weakenings: WeakeningList | None = None,
    quarantines: Sequence[QuarantineRuling] = (),
    rules: RulesDoc | None = None,
) -> ResultsDoc:
    """Builds the document of a finished run; texts are redacted and bounded.

    Changes come from the comparison; `warnings` come before those of the run. `baseline_summary` is for the
    deltas of the whole run; `command` repeats the run in a shell.
    """
    changes = comparison.changes if comparison else {}
    removed = comparison.removed if comparison else []
    suite_statistics = statistics.suites if statistics else {}
    document: ResultsDoc = {
        "schema": RESULTS_SCHEMA,
        "evalgate_version": __version__,
        "created_at": _format_time(created_at),
        "commit": commit,
        "verdict": decision.verdict,
        "exit_code": decision.exit_code,
        "report_only": decision.report_only,
        "reasons": [build_reason_doc(reason) for reason in decision.reasons],
        "summary": build_summary(
            run, changes.values(), len(removed), statistics.run.statistics if statistics else None
        ),
        "baseline": build_baseline_doc(baseline, baseline_summary) if baseline else None,
        "suites": [
            build_suite_doc(
                suite,
                changes,
                decision.suite_verdicts.get(suite.name, "cannot_judge"),
                suite_statistics.get(suite.name),
            )
            for suite in run.suites
        ],
        "removed": [build_removed_doc(outcome) for outcome in removed],
        "unclaimed": [build_unclaimed_doc(unclaimed) for unclaimed in run.unclaimed],
        "warnings": [build_warning_doc(warning) for warning in (*warnings, *run.warnings)],
        "approvals": _build_approvals(rulings),
        "command": clean_text(command) if command else None,
    }
    if statistics is not None:
        document["figures"] = build_statistics_doc(statistics.run)
    if comparison is not None and comparison.power is not None:
        document["comparison"] = build_comparison_doc(comparison.power)
    if rules is not None:
        document["rules"] = rules
    if quarantines:
        from evalgate.reporting.results.quarantine_doc import build_quarantine_doc

        document["quarantines"] = [build_quarantine_doc(ruling) for ruling in quarantines]
    if weakenings is not None:
        from evalgate.reporting.results.weakenings_doc import build_weakenings_doc

        document["weakenings"] = build_weakenings_doc(weakenings)
    return document


def build_invalid_document(
    problems: Sequence[Problem], code: str, *, commit: str | None, created_at: datetime, report_only: bool = False
) -> ResultsDoc:
    """Builds the document of a run that could not start: exit code 2, no figures, a reason per problem.

    `code` is that of the error: invalid_suite, invalid_setting, refused_path or over_limit.
    """
    return {
        "schema": RESULTS_SCHEMA,
        "evalgate_version": __version__,
        "created_at": _format_time(created_at),
        "commit": commit,
        "verdict": "invalid",
        "exit_code": 2,
        "report_only": report_only,
        "reasons": [build_problem_doc(problem, code) for problem in problems],
        "summary": None,
        "baseline": None,
        "suites": [],
        "removed": [],
        "unclaimed": [],
        "warnings": [],
        "approvals": [],
        "command": None,
    }


def dump_results(document: ResultsDoc) -> bytes:
    """Encodes the whole document, as the same bytes that `stream_results` yields."""
    return join_chunks(stream_results(document))


def load_results(
    data: bytes, *, what: str = "results.json", with_assertions: bool = True, limit: int = MAX_BYTES
) -> ResultsDoc:
    """Reads a document back and checks its shape field by field; unknown fields are kept.

    `with_assertions=False` does not check single assertions, which a comparison does not read. Raises
    SettingError, which names `what` and the wrong field, and OverLimit for more than `limit` bytes.
    """
    import orjson

    from evalgate.reporting.results.results_shape import check_results

    check_size(data, what, limit)
    try:
        document: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SettingError(f"{what} is not valid JSON: error at line {error.lineno}, column {error.colno}") from None
    problem = check_results(document, with_assertions=with_assertions)
    if problem:
        raise SettingError(f"{what} is not a valid {RESULTS_SCHEMA} document: {problem}")
    return cast("ResultsDoc", document)


def check_size(data: bytes, what: str, limit: int = MAX_BYTES) -> None:
    """Raises OverLimit for a document that would take too much memory."""
    if len(data) > limit:
        raise OverLimit(f"{what} is larger than {limit:,} bytes")
    if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS or data.count(b",") > MAX_VALUES:
        raise OverLimit(f"{what} holds more values than any run writes")


def _format_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _build_approvals(rulings: Sequence[ApprovalRuling]) -> list[ApprovalDoc]:
    if not rulings:
        return []
    from evalgate.reporting.results.approvals_doc import build_approval_doc

    return [build_approval_doc(ruling) for ruling in rulings]
