"""Renders the page: one HTML file with its style and script inside, which a strict policy names by their hashes."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template

    from evalgate.reporting.html.page_view import PageView

_POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"
)


def render_page(page: PageView) -> str:
    """The whole file. All text is escaped by the template; conversations are JSON that can't end their element."""
    style, script = _read_asset("report.css"), _read_asset("report.js")
    return _load_template().render(
        page=page,
        style=style,
        script=script,
        policy=_POLICY.format(script=_hash_source(script), style=_hash_source(style)),
    )


def _hash_source(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _read_asset(name: str) -> str:
    from importlib.resources import files

    return files("evalgate.reporting").joinpath("templates", name).read_text("utf-8")


@cache
def _load_template() -> Template:
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=PackageLoader("evalgate.reporting"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.clear()
    return environment.get_template("report.html.j2")
