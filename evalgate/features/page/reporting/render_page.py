"""Renders the page: one HTML file with its style and script inside, which a strict policy names by their hashes."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

    from evalgate.features.page.reporting.page_view import PageParts, PageView, RowView, ScenarioView

_POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"
)
_START = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
"""


def render_page(page: PageView, parts: PageParts) -> str:
    """The whole file. All text is escaped by the templates; JSON in it can't end its element."""
    style, script = _read_asset("report.css"), _read_asset("report.js")
    template = _load_environment().get_template("report.html.j2")
    return template.render(page=page, parts=parts, style=style, script=script, start=build_page_start())


def render_row(view: RowView, suite: int, variant: int | None) -> str:
    """A scenario in the list; `suite` and `variant` are their numbers in the filters."""
    return str(_load_parts().row(view, suite, variant))


def render_section(view: ScenarioView, *, is_open: bool) -> str:
    """A scenario with everything the page shows of it."""
    return str(_load_parts().section(view, is_open))


def build_page_start() -> str:
    """The first bytes of every page: a browser runs nothing after them but our script, and sends nothing."""
    style, script = (_hash_source(_read_asset(name)) for name in ("report.css", "report.js"))
    return _START.format(policy=_POLICY.format(script=script, style=style))


def _hash_source(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _read_asset(name: str) -> str:
    from importlib.resources import files

    return files("evalgate.features.page").joinpath("templates", name).read_text("utf-8")


@cache
def _load_parts() -> Any:
    return _load_environment().get_template("report_parts.html.j2").module


@cache
def _load_environment() -> Environment:
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=PackageLoader("evalgate.features.page"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.clear()
    return environment
