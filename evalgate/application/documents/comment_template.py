"""Renders the comment with the project's template, or the built-in one if that fails.

The verdict never depends on a template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import InvalidTemplate
from evalgate.models.github.template_file import TEMPLATE_UNUSED
from evalgate.reporting.markdown.render import render_comment

if TYPE_CHECKING:
    from evalgate.models.github.template_file import TemplateFile
    from evalgate.models.results.results import ResultsDoc


class CommentOptions(NamedTuple):
    """How to render a comment: its key, its maximum length, and the URL of the whole report."""

    key: str
    max_chars: int
    report_url: str | None = None
    origin: str = ""
    template: TemplateFile | None = None


def write_comment(document: ResultsDoc, options: CommentOptions) -> tuple[str, list[str]]:
    """The comment, and a warning if the template could not be used."""
    try:
        return _render(document, options), []
    except InvalidTemplate as flaw:
        return _render(document, options._replace(template=None)), [f"{TEMPLATE_UNUSED}: {flaw}"]


def _render(document: ResultsDoc, options: CommentOptions) -> str:
    return render_comment(document, **options._asdict())
