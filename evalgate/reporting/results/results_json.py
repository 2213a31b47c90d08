"""Builds `results.json` from a finished run, writes it, and reads it back as untrusted data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from evalgate.errors import OverLimit, SettingError
from evalgate.models.results.document_names import RESULTS_SCHEMA
from evalgate.models.run.chunks import whole
from evalgate.reporting.results.bounded import bounded_text
from evalgate.reporting.results.results_parts import (
    baseline_doc,
    problem_doc,
    reason_doc,
    removed_doc,
    suite_doc,
    unclaimed_doc,
    warning_doc,
)
from evalgate.reporting.results.results_writer import written
from evalgate.reporting.results.statistics_doc import comparison_doc, figures_doc
from evalgate.reporting.results.summary import summary
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.errors import Problem
    from evalgate.models.approvals.approval import Ruling
    from evalgate.models.comparison.comparison import BaselineInfo, Comparison
    from evalgate.models.comparison.decision import Decision
    from evalgate.models.comparison.quarantine import QuarantineRuling
    from evalgate.models.comparison.weakening import Weakenings
    from evalgate.models.results.results import ResultsDoc, SummaryDoc
    from evalgate.models.results.results_approvals import ApprovalDoc
    from evalgate.models.results.results_rules import RulesDoc
    from evalgate.models.run.run import Run
    from evalgate.models.run.run_statistics import RunStatistics
    from evalgate.models.trace.trace import Warning_

MAX_BYTES = 256_000_000
"""The largest document that is read, in bytes; a whole baseline unpacked must fit."""
MAX_CONTAINERS, MAX_VALUES = 3_000_000, 15_000_000
"""Most brackets and commas of a document: `[],[],` takes 20 times its bytes in memory."""


def results_document(  # noqa: PLR0913  the document has all of it
    run: Run,
    comparison: Comparison | None,
    decision: Decision,
    *,
    baseline: BaselineInfo | None,
    commit: str | None,
    created_at: datetime,
    warnings: Sequence[Warning_] = (),
    previous: SummaryDoc | None = None,
    command: str | None = None,
    figures: RunStatistics | None = None,
    rulings: Sequence[Ruling] = (),
    weakenings: Weakenings | None = None,
    quarantines: Sequence[QuarantineRuling] = (),
    rules: RulesDoc | None = None,
) -> ResultsDoc:
    """Builds the document of a finished run; texts are redacted and bounded.

    Changes come from the comparison; `warnings` come before those of the run. `baseline_summary` is for the
    deltas of the whole run; `command` repeats the run in a shell.
    """
    changes = comparison.changes if comparison else {}
    removed = comparison.removed if comparison else []
    summed = figures.suites if figures else {}
    document: ResultsDoc = {
        "schema": RESULTS_SCHEMA,
        "evalgate_version": __version__,
        "created_at": _timestamp(created_at),
        "commit": commit,
        "verdict": decision.verdict,
        "exit_code": decision.exit_code,
        "report_only": decision.report_only,
        "reasons": [reason_doc(reason) for reason in decision.reasons],
        "summary": summary(run, changes.values(), len(removed), figures.run.figures if figures else None),
        "baseline": baseline_doc(baseline, previous) if baseline else None,
        "suites": [
            suite_doc(
                suite,
                changes,
                decision.suite_verdicts.get(suite.name, "cannot_judge"),
                summed.get(suite.name),
            )
            for suite in run.suites
        ],
        "removed": [removed_doc(standing) for standing in removed],
        "unclaimed": [unclaimed_doc(unclaimed) for unclaimed in run.unclaimed],
        "warnings": [warning_doc(warning) for warning in (*warnings, *run.warnings)],
        "approvals": _approvals(rulings),
        "command": bounded_text(command) if command else None,
    }
    if figures is not None:
        document["figures"] = figures_doc(figures.run)
    if comparison is not None and comparison.evidence is not None:
        document["comparison"] = comparison_doc(comparison.evidence)
    if rules is not None:
        document["rules"] = rules
    if quarantines:
        from evalgate.reporting.results.quarantine_doc import quarantine_doc

        document["quarantines"] = [quarantine_doc(ruling) for ruling in quarantines]
    if weakenings is not None:
        from evalgate.reporting.results.weakenings_doc import weakenings_doc

        document["weakenings"] = weakenings_doc(weakenings)
    return document


def invalid_document(
    problems: Sequence[Problem],
    code: str,
    *,
    commit: str | None,
    created_at: datetime,
    report_only: bool = False,
) -> ResultsDoc:
    """Builds the document of a run that could not begin: exit code 2, no figures, a reason per problem.

    `code` is that of the error: invalid_suite, invalid_setting, refused_path or over_limit.
    """
    return {
        "schema": RESULTS_SCHEMA,
        "evalgate_version": __version__,
        "created_at": _timestamp(created_at),
        "commit": commit,
        "verdict": "invalid",
        "exit_code": 2,
        "report_only": report_only,
        "reasons": [problem_doc(problem, code) for problem in problems],
        "summary": None,
        "baseline": None,
        "suites": [],
        "removed": [],
        "unclaimed": [],
        "warnings": [],
        "approvals": [],
        "command": None,
    }


def dump(document: ResultsDoc) -> bytes:
    """Encodes the whole document, as the same bytes that `stream_results` yields."""
    return whole(written(document))


def load(
    data: bytes, *, what: str = "results.json", whole: bool = True, limit: int = MAX_BYTES
) -> ResultsDoc:
    """Reads a document back and checks its shape field by field; unknown fields are kept.

    `with_assertions=False` does not check single assertions, which a comparison does not read. Raises
    SettingError, which names `what` and the wrong field, and OverLimit for more than `limit` bytes.
    """
    import orjson

    from evalgate.reporting.results.results_shape import check

    if len(data) > limit:
        raise OverLimit(f"{what} is larger than {limit:,} bytes")
    if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS or data.count(b",") > MAX_VALUES:
        raise OverLimit(f"{what} holds more values than any run would leave")
    try:
        document: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SettingError(
            f"{what} is no JSON: it breaks off at line {error.lineno}, column {error.colno}"
        ) from None
    mistake = check(document, whole=whole)
    if mistake:
        raise SettingError(f"{what} is no {RESULTS_SCHEMA} document: {mistake}")
    return cast("ResultsDoc", document)


def _timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _approvals(rulings: Sequence[Ruling]) -> list[ApprovalDoc]:
    if not rulings:
        return []
    from evalgate.reporting.results.approvals_doc import approval_doc

    return [approval_doc(ruling) for ruling in rulings]
