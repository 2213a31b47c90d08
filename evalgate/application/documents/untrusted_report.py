"""Checks a report from an untrusted run field by field, and renders reports with the project's template."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import orjson
from msgspec.structs import replace

from evalgate.application.messages.request import RenderedReport
from evalgate.errors import InvalidTemplate, SettingError
from evalgate.gate.decision.counts import find_wrong_count
from evalgate.models.github import TEMPLATE_UNUSED
from evalgate.reporting.markdown.header_lines import format_origin
from evalgate.reporting.markdown.links import Links
from evalgate.reporting.markdown.render import render_comment, render_summary
from evalgate.reporting.text.root_paths import with_root_paths

if TYPE_CHECKING:
    from evalgate.application.messages.request import RenderOptions
    from evalgate.models.approvals.review import TriggeringRun
    from evalgate.models.results.results import ResultsDoc
    from evalgate.reporting.text.grouping import GroupedScenarios


def write_comment(
    document: ResultsDoc, options: RenderOptions, grouped: GroupedScenarios | None = None, *, origin: str = ""
) -> tuple[str, list[str]]:
    """The comment, and a warning if the template could not be used; `grouped` are its scenarios, if known."""
    render = partial(
        render_comment,
        document,
        key=options.comment_key,
        max_chars=options.max_comment_chars,
        report_url=options.run_url,
        origin=origin,
        pages=options.pages,
        grouped=grouped,
    )
    try:
        return render(template=options.template), []
    except InvalidTemplate as flaw:
        return render(), [f"{TEMPLATE_UNUSED}: {flaw}"]


LARGEST_RESULTS = 128 * 1024 * 1024
WHAT = "its results.json"


def render_untrusted_report(content: bytes, run: TriggeringRun, options: RenderOptions) -> RenderedReport:
    """Renders the report of a run again from its results. Raises SettingError or OverLimit if invalid.

    The run's own Markdown is not used. The command that repeats the run is left out, since people paste such
    lines into a shell.
    """
    return render_report(report_of(content, run.head_sha), run, options)


def report_of(content: bytes, commit: str | None) -> ResultsDoc:
    """The results document of a run of this commit; raises SettingError or OverLimit."""
    from evalgate.reporting.results.load_results import load_results  # a run that judges traces loads no results
    from evalgate.reporting.results.results_json import dump_results

    results = load_results(content, what=WHAT, limit=LARGEST_RESULTS)
    try:
        dump_results(results)
    except (orjson.JSONEncodeError, RecursionError):
        raise SettingError(f"{WHAT} is nested too deep") from None
    if results["summary"] is None:
        raise SettingError(f"{WHAT} is from a run that could not start")
    if wrong := find_wrong_count(results["summary"]):
        raise SettingError(f"{WHAT} contradicts itself: {wrong}")
    if (results["verdict"] == "pass") is not (not results["reasons"]):
        raise SettingError(f"{WHAT} contradicts itself: a run passes if it has no reason to fail")
    if results["commit"] != commit:
        raise SettingError(f"{WHAT} is for another commit than its run")
    results["command"] = None
    results.pop("fetch_command", None)
    return results


def render_report(results: ResultsDoc, run: TriggeringRun, options: RenderOptions) -> RenderedReport:
    """Renders a report, with a line about the run it comes from."""
    head = run.head_repository
    pages = options.pages and replace(
        options.pages, head_repository=head or options.pages.repository, commit=run.head_sha
    )
    options = replace(options, pages=pages)
    origin = format_origin(run, options.run_url or "", Links(pages))
    shown = with_root_paths(results)
    comment, warnings = write_comment(shown, options, origin=origin)
    summary = render_summary(shown, report_url=options.run_url, origin=origin, pages=pages)
    return RenderedReport(results, comment, summary, warnings)
