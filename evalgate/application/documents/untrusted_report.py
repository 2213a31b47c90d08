"""Checks a report from an untrusted run field by field, and renders reports with the project's template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import replace

from evalgate.application.documents.report_files import make_source, render_outputs
from evalgate.application.messages.request import RenderedReport
from evalgate.errors import ReportMissing, SettingError
from evalgate.models.comparison.decision import find_wrong_count
from evalgate.models.run.chunks import join_chunks
from evalgate.ports.outputs import COMMENT, SUMMARY, RunSubject
from evalgate.reporting.markdown.header_lines import format_origin
from evalgate.reporting.markdown.links import Links
from evalgate.reporting.results.results_json import build_invalid_document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from evalgate.models.approvals.review import TriggeringRun
    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports.outputs import LoadOutput, RenderOptions

LARGEST_RESULTS = 128 * 1024 * 1024
WHAT = "its results.json"


def render_untrusted_report(
    content: bytes, run: TriggeringRun, options: RenderOptions, asked: Mapping[str, Any], load: LoadOutput
) -> RenderedReport:
    """Renders the report of a run again from its results. Raises SettingError or OverLimit if invalid.

    The run's own Markdown is not used. The command that repeats the run is left out, since people paste such
    lines into a shell.
    """
    return render_report(_load(content, run.head_sha), run, options, asked, load)


def report_of(content: bytes, commit: str | None) -> ResultsDoc:
    """The results document of a run that judged this commit; raises SettingError or OverLimit."""
    results = _load(content, commit)
    if results["summary"] is None:
        raise SettingError(f"{WHAT} is from a run that could not start")
    return results


def _load(content: bytes, commit: str | None) -> ResultsDoc:
    """The results document of a run of this commit, which may have judged nothing."""
    from evalgate.reporting.results.load_results import load_results  # a run that judges traces loads no results
    from evalgate.reporting.results.results_json import dump_results

    results = load_results(content, what=WHAT, limit=LARGEST_RESULTS)
    try:
        dump_results(results)
    except (orjson.JSONEncodeError, RecursionError):
        raise SettingError(f"{WHAT} is nested too deep") from None
    summary = results["summary"]
    if summary is None and results["suites"]:
        raise SettingError(f"{WHAT} contradicts itself: a run that could not start has no results")
    if summary is not None and (wrong := find_wrong_count(summary)):
        raise SettingError(f"{WHAT} contradicts itself: {wrong}")
    if (results["verdict"] == "pass") is not (not results["reasons"]):
        raise SettingError(f"{WHAT} contradicts itself: a run passes if it has no reason to fail")
    if results["commit"] != commit:
        raise SettingError(f"{WHAT} is for another commit than its run")
    results["command"] = None
    results.pop("fetch_command", None)
    return results


def render_missing_report(
    reason: str, run: TriggeringRun, options: RenderOptions, now: datetime, load: LoadOutput
) -> RenderedReport:
    """Renders that a run left no report, and why."""
    results = build_invalid_document(ReportMissing(reason), commit=run.head_sha, created_at=now)
    return render_report(results, run, options, {}, load)


def render_report(
    results: ResultsDoc, run: TriggeringRun, options: RenderOptions, asked: Mapping[str, Any], load: LoadOutput
) -> RenderedReport:
    """Renders a report with a line about the run it comes from, and the outputs that were asked for."""
    head = run.head_repository
    pages = options.pages and replace(
        options.pages,
        head_repository=head or options.pages.repository,
        commit=run.head_sha,
        attempt=run.attempt,
        failure=run.failure if results["verdict"] == "pass" else "",
    )
    origin = format_origin(run, options.run_url or "", Links(pages))
    subject = RunSubject(run.head_sha, run.head_branch, str(run.id))
    source = make_source(results, subject, replace(options, pages=pages), origin)
    contents, warnings = render_outputs({COMMENT: None, SUMMARY: None, **asked}, source, load)
    comment, summary = (join_chunks(contents.pop(name)).decode() for name in (COMMENT, SUMMARY))
    return RenderedReport(results, comment, summary, warnings, contents)
