"""Checks the settings for traces in suites and flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Location, Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.suite.models import CUSTOM

if TYPE_CHECKING:
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.ports import TraceSource
    from evalgate.suite.models import Configuration

AUTO = "auto"


def check_traces(configuration: Configuration, request: JudgeRequest, traces: TraceSource) -> None:
    """Checks what needs suites and flags together; raises SettingError listing every error."""
    problems = format_problems(configuration, traces, request.form)
    for suite in configuration.suites:
        if request.traces is None and suite.traces is None:
            hint = "add `traces: [...]` to it or to `defaults` of evalgate.yaml, or use --traces"
            problems.append(Problem(f"suite `{suite.name}` has no `traces`", Location(suite.path), hint))
        elif request.traces is None and any("://" in pattern for pattern in suite.traces or ()):
            hint = "a URL may only be given on the command line: --traces"
            problems.append(Problem(f"`traces` of suite `{suite.name}` contains a URL", Location(suite.path), hint))
    if problems:
        raise SettingError(*problems)


def format_problems(configuration: Configuration, traces: TraceSource, form: str | None = None) -> list[Problem]:
    """Unknown formats in the flag and in suites."""
    formats = [AUTO, *traces.formats(), CUSTOM]
    places = [(suite.format_name, suite.format_location or Location(suite.path)) for suite in configuration.suites]
    named = [(form, None), *places]
    unknown = [
        Problem(f"unknown format {each!r}", place, suggest(each, formats))
        for each, place in named
        if each is not None and each not in formats
    ]
    without_custom = [
        Problem(f"suite `{suite.name}` has no `custom`, which `--format custom` needs", Location(suite.path))
        for suite in configuration.suites
        if form == CUSTOM and suite.custom is None
    ]
    return unknown + without_custom
