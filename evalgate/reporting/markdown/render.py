"""Renders a results document as Markdown: the pull request comment and the job summary."""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.errors import InvalidTemplate, Location, Problem, SettingError
from evalgate.reporting.markdown.build_view import COMMENT, SUMMARY, build_report
from evalgate.reporting.markdown.links import RunPages
from evalgate.reporting.text.grouping import group_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Environment

    from evalgate.models.github import TemplateFile
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.arms import ArmComparison
    from evalgate.reporting.markdown.build_view import Layout
    from evalgate.reporting.markdown.user_template import UserTemplate
    from evalgate.reporting.markdown.view import Report
    from evalgate.reporting.text.grouping import GroupedScenarios

    ReportBuilder = Callable[[Layout], Report]
    BodyRenderer = Callable[[Report], str]
    Limit = tuple[Callable[[str], int], int]
    """The function that measures a text, and the largest allowed result."""

MARKER = "<!-- evalgate:sticky v1 key={key} -->"
SUMMARY_BYTES = 1_000_000
_KEY_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-")
_MAX_TRIES = 12
NO_PAGES = RunPages()
_BLANK_LINES = re.compile(r"\n{3,}")  # no line of a fenced block is blank: each has a gutter


def render_comment(
    document: ResultsDoc,
    *,
    key: str,
    max_chars: int = 60_000,
    pages: RunPages = NO_PAGES,
    template: TemplateFile | None = None,
    grouped: GroupedScenarios | None = None,
) -> str:
    """Renders the comment: the marker of `key`, then the verdict and the rest, at most `max_chars` long.

    `template` is the project's template, `grouped` the scenarios if they are grouped already. Raises SettingError for
    a key that is invalid in a marker, InvalidTemplate for a template that can't be used.
    """
    if not key or not _KEY_CHARACTERS.issuperset(key) or "--" in key:
        raise SettingError("the comment key may contain only letters, digits and . _ / -, and no double hyphen")
    marker = MARKER.format(key=key) + "\n"
    build_view = partial(build_report, document, grouped or group_scenarios(document), pages=pages)
    limit = (len, max_chars - len(marker))
    if template is None:
        return marker + _render_fitting(build_view, COMMENT, _builtin_body("comment.md.j2"), limit)
    return marker + _render_user_template(build_view, template, limit)


def render_summary(
    document: ResultsDoc,
    *,
    max_bytes: int = SUMMARY_BYTES,
    pages: RunPages = NO_PAGES,
    grouped: GroupedScenarios | None = None,
) -> str:
    """Renders the job summary: the same report with more rows, at most `max_bytes` of UTF-8."""
    build_view = partial(build_report, document, grouped or group_scenarios(document), pages=pages)
    return _render_fitting(build_view, SUMMARY, _builtin_body("summary.md.j2"), (_count_bytes, max_bytes))


def render_arms(found: Sequence[ArmComparison]) -> str:
    """Renders comparisons of arms as the comment shows them."""
    from evalgate.reporting.markdown.arm_rows import build_arm_section
    from evalgate.reporting.markdown.view import Rows

    many = len({each.suite for each in found}) > 1
    sections = tuple(build_arm_section(each, many=many) for each in found)
    text = _get_environment().get_template("arms.md.j2").render(report={"arms": Rows(sections, len(sections))})
    return _BLANK_LINES.sub("\n\n", text).strip("\n")


def render_confirmed(document: ResultsDoc) -> str:
    """Renders what was recorded again as the comment shows it; empty if nothing was."""
    report = build_report(document, group_scenarios(document), COMMENT, pages=NO_PAGES)
    text = _get_environment().get_template("confirmed.md.j2").render(report=report)
    return _BLANK_LINES.sub("\n\n", text).strip("\n")


def _builtin_body(name: str) -> BodyRenderer:
    return lambda report: _get_environment().get_template(name).render(report=report)


def _render_user_template(build_view: ReportBuilder, template: TemplateFile, limit: Limit) -> str:
    text = _fit_report(build_view, COMMENT, _load_user_template(template).render, limit)
    if text is None:
        problem = f"the comment is longer than {limit[1]:,} characters even without any rows"
        raise InvalidTemplate(Problem(problem, Location(template.path)))
    return text


@lru_cache(maxsize=1)
def _load_user_template(template: TemplateFile) -> UserTemplate:
    from evalgate.reporting.markdown.user_template import UserTemplate

    return UserTemplate(template, _get_environment())


def _render_fitting(build_view: ReportBuilder, layout: Layout, body: BodyRenderer, limit: Limit) -> str:
    """Renders the report; only its verdict if the limit is too small for any report."""
    text = _fit_report(build_view, layout, body, limit)
    if text is not None:
        return text
    report = build_view(replace(layout, room=0))
    more = f" See the [full report]({report.report_url})." if report.report_url else ""
    return _assemble_page(report, f"The rest does not fit into {limit[1]:,} characters.{more}")


def _fit_report(build_view: ReportBuilder, layout: Layout, body: BodyRenderer, limit: Limit) -> str | None:
    """Renders with less and less space until it fits: rows are omitted and counted, never cut."""
    measure, max_size = limit
    room = min(layout.room, max_size)
    for _ in range(_MAX_TRIES):
        report = build_view(replace(layout, room=room))
        text = _assemble_page(report, body(report))
        if measure(text) <= max_size:
            return text
        room = room * 3 // 4
    return None


def _assemble_page(report: Report, body: str) -> str:
    """Puts verdict, notices and origin before the body, so that no template can change or hide them."""
    head = "\n\n".join(filter(None, [f"## {report.heading}", report.notices, report.origin]))
    return _BLANK_LINES.sub("\n\n", f"{head}\n\n{body}").strip("\n") + "\n"


def _count_bytes(text: str) -> int:
    return len(text.encode())


def compile_templates() -> None:
    """Compiles the built-in templates and saves their bytecode, as the first run would."""
    environment = _get_environment()
    for name in environment.list_templates(["j2"]):
        environment.get_template(name)


@cache
def _get_environment() -> Environment:
    """Returns one environment for all templates, so that a base template is compiled once."""
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from evalgate.reporting.markdown.template_cache import TemplateCache

    environment = ImmutableSandboxedEnvironment(
        loader=PackageLoader("evalgate.reporting"),
        bytecode_cache=TemplateCache(),
        undefined=StrictUndefined,
        autoescape=False,  # Markdown, not HTML: every text of the view is escaped already
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.clear()
    environment.filters = {"length": len}  # compiled code depends on them, and `UserTemplate` shares the cache
    return environment
