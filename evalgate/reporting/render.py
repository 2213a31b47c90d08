"""Markdown of a results document: the comment of a pull request and the summary of a job."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from evalgate.errors import SettingError
from evalgate.reporting.build import COMMENT, SUMMARY, build

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment

    from evalgate.models.results import ResultsDoc
    from evalgate.reporting.build import Layout
    from evalgate.reporting.view import Report

MARKER = "<!-- evalgate:sticky v1 key={key} -->"
SUMMARY_BYTES = 1_000_000
_KEY_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-")
_TRIES = 12
_BLANK_LINES = re.compile(r"\n{3,}")  # no line of a fence is blank: each has its gutter


def render_comment(
    document: ResultsDoc, *, key: str, max_chars: int = 60_000, report_url: str | None = None
) -> str:
    """The comment: our marker for `key` as first line, the verdict right after it, at most `max_chars` long.

    `report_url` is where the rest is told. Raises SettingError for a key that can't stand in a marker.
    """
    if not key or not _KEY_CHARACTERS.issuperset(key) or "--" in key:
        raise SettingError(
            "the comment's key may hold letters, digits and . _ / - only, and no double hyphen"
        )
    marker = MARKER.format(key=key) + "\n"
    body = _fitting(document, COMMENT, "comment.md.j2", report_url, (len, max_chars - len(marker)))
    return marker + body


def render_summary(
    document: ResultsDoc, *, max_bytes: int = SUMMARY_BYTES, report_url: str | None = None
) -> str:
    """The job summary: the same report with more room, at most `max_bytes` of UTF-8."""
    return _fitting(document, SUMMARY, "summary.md.j2", report_url, (_bytes, max_bytes))


def _fitting(
    document: ResultsDoc,
    layout: Layout,
    name: str,
    report_url: str | None,
    limit: tuple[Callable[[str], int], int],
) -> str:
    """Rendered with ever less room until it fits: rows are left out and counted, never cut."""
    measure, most = limit
    room = min(layout.room, most)
    for _ in range(_TRIES):
        report = build(document, replace(layout, room=room), report_url=report_url)
        text = (
            _BLANK_LINES.sub("\n\n", _environment().get_template(name).render(report=report)).strip("\n")
            + "\n"
        )
        if measure(text) <= most:
            return text
        room = room * 3 // 4
    return _least(build(document, replace(layout, room=0), report_url=report_url), most)


def _least(report: Report, most: int) -> str:
    """The verdict alone, where so little room was asked for that no report fits."""
    more = f" See the [whole report]({report.report_url})." if report.report_url else ""
    return f"## {report.heading}\n\nMore does not fit into {most:,} characters.{more}\n"


def _bytes(text: str) -> int:
    return len(text.encode())


@cache
def _environment() -> Environment:
    """One for all templates, so that what one extends is compiled once."""
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=PackageLoader("evalgate.reporting"),
        undefined=StrictUndefined,
        autoescape=False,  # Markdown, not HTML: every text has passed its door in the view
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.clear()
    return environment
