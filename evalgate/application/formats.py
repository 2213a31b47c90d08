"""Whether the formats that suites and flags name exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Location, Problem
from evalgate.evaluators.flaws import suggest
from evalgate.suite.custom import CUSTOM

if TYPE_CHECKING:
    from evalgate.ports import TraceSource
    from evalgate.suite.models import Configuration

AUTO = "auto"


def format_problems(
    configuration: Configuration, traces: TraceSource, form: str | None = None
) -> list[Problem]:
    """Formats that do not exist, the flag's own and those of suites."""
    formats = [AUTO, *traces.formats(), CUSTOM]
    places = [(suite.form, suite.form_at or Location(suite.path)) for suite in configuration.suites]
    named = [(form, None), *places]
    unknown = [
        Problem(f"unknown format {each!r}", place, suggest(each, formats))
        for each, place in named
        if each is not None and each not in formats
    ]
    unsaid = [
        Problem(f"suite `{suite.name}` has no `custom`, which `--format custom` needs", Location(suite.path))
        for suite in configuration.suites
        if form == CUSTOM and suite.custom is None
    ]
    return unknown + unsaid
