"""Publishes a judged run to trackers when all else is done: nothing here changes the verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson
from msgspec import Struct

from evalgate.application.action.post_comment import add_annotation, add_to_comment
from evalgate.application.messages.request import TRACKING
from evalgate.errors import InvalidInput
from evalgate.features.track.application.track_run import build_tracking_document, track_run
from evalgate.reporting.text.escaping import is_safe_url
from evalgate.reporting.text.sentences import escape_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.action.post_comment import CommentText
    from evalgate.features.track.application.track_run import TrackingReport
    from evalgate.features.track.models import PublishedRun
    from evalgate.features.track.ports import Tracker
    from evalgate.ports import OutputFolder, PullRequest, StepOutput

LINE_LENGTH = 500
"""Characters that a comment of the greatest length leaves free."""
LABEL, SEPARATOR = "Tracked: ", " · "
LINK = r"\[[^\[\]\n]*\]\(https?://[^\s()<>]+\)"
LINE = re.compile(
    rf"^{LABEL}{LINK}(?:{SEPARATOR}{LINK})*(?:{SEPARATOR}\d+ more in {re.escape(TRACKING)})?$", re.MULTILINE
)
"""A line of links, as `format_links` writes it."""
TOTALS = "**Score** "
"""How the line of totals begins, below which the links are."""


class TrackPorts(Struct, frozen=True):
    """The trackers, and where their links are written; `comment` is what was posted, None for no comment.

    Without `folder` no file is written.
    """

    trackers: Sequence[Tracker]
    step: StepOutput
    folder: OutputFolder | None
    pull_request: PullRequest | None = None
    comment: CommentText | None = None
    summarise: bool = True


def track_judged(run: PublishedRun, ports: TrackPorts) -> None:
    """Publishes the run to each tracker, then adds links to the comment, the job summary and the outputs.

    What fails is one warning and one line of the summary for each tracker.
    """
    reports = [track_run(run, tracker) for tracker in ports.trackers]
    if ports.folder is not None:
        _write_document(reports, ports.folder, ports.step)
    for report in reports:
        _report(report, ports.step)
    line = format_links(reports)
    if ports.summarise:
        failures = [escape_sentence(f"Not tracked: {each.problem}") for each in reports if each.problem is not None]
        ports.step.summary("\n" + "\n\n".join([*filter(None, [line]), *failures]))
    if line and ports.comment is not None and ports.pull_request is not None:
        add_to_comment(ports.comment, lambda body: add_line(body, line), ports.pull_request, ports.step)
    url = next((each.url for report in reports for each in report.experiments), "")
    if url:
        ports.step.outputs({"tracking-url": url})


def _write_document(reports: Sequence[TrackingReport], folder: OutputFolder, step: StepOutput) -> None:
    try:
        folder.write(TRACKING, orjson.dumps(build_tracking_document(reports), option=orjson.OPT_INDENT_2))
    except InvalidInput as error:
        add_annotation(step, "warning", f"{TRACKING} was not written: {error.problems[0]}")


def _report(report: TrackingReport, step: StepOutput) -> None:
    for experiment in report.experiments:
        step.log(f"tracked: {experiment.name} {experiment.url}")
    if report.problem is not None:
        add_annotation(step, "warning", f"not tracked: {report.problem}")
    for _, message in report.warnings:
        add_annotation(step, "warning", message)


def format_links(reports: Sequence[TrackingReport]) -> str:
    """One line of Markdown with a link to each experiment, empty without any; further ones of a tracker are numbers.

    If not all fit, the first of each tracker come before further ones.
    """
    links = [
        (number, f"[{report.tracker if number == 1 else number}]({experiment.url})")
        for report in reports
        for number, experiment in enumerate(report.experiments, 1)
        if is_safe_url(experiment.url)
    ]
    room = LINE_LENGTH - len(LABEL)
    fitting = []
    for index, (_, link) in sorted(enumerate(links), key=lambda each: (each[1][0] > 1, each[0])):
        length = len(link) + len(SEPARATOR)
        if length <= room:
            room -= length
            fitting.append(index)
    if not fitting:
        return ""
    shown = [links[index][1] for index in sorted(fitting)]
    left = len(links) - len(shown)
    return LABEL + SEPARATOR.join([*shown, *([f"{left} more in {TRACKING}"] if left else [])])


def add_line(body: str, line: str) -> str:
    """The comment with the line below its totals, or at its end if a template leaves them out."""
    lines = body.rstrip("\n").split("\n")
    totals = next((number for number, each in enumerate(lines) if each.startswith(TOTALS)), len(lines) - 1)
    return "\n".join([*lines[: totals + 1], "", line, *lines[totals + 1 :]]) + "\n"


def find_line(body: str) -> str:
    """The line of links in a comment, empty if it has none."""
    found = LINE.search(body)
    return "" if found is None else found.group()
