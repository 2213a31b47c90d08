"""The text of a failing item: what `evalgate explain` prints of a scenario, or the reasons of a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.terminal.explanation import render_explanation
from evalgate.reporting.text.commands import build_explain_command
from evalgate.reporting.text.escaping import TEXT_LIMIT, escape_terminal
from evalgate.reporting.text.sentences import unmark_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ReasonDoc, ResultsDoc
    from evalgate.reporting.text.scenario_sections import SuiteScenario

MAX_LINES = 40
WIDTH = 100


def render_failure(results: ResultsDoc, found: Sequence[SuiteScenario], most: int = MAX_LINES) -> str:
    """Explains scenarios in at most `most` lines; the last one names the command that prints the rest."""
    lines: list[str] = []
    for each in found:
        lines += [
            *([""] if lines else []),
            *render_explanation(results, each, width=WIDTH).split("\n"),
        ]
    if not found:
        return ""
    rerun = results["command"] or "evalgate run"
    return _cut(lines, f"{rerun}; {build_explain_command(results, found[0])}", most)


def render_gate(results: ResultsDoc) -> str:
    """The verdict of the gate and its reasons, in at most 40 lines."""
    lines = [f"the gate: {results['verdict'].replace('_', ' ')} (exit code {results['exit_code']} of evalgate run)"]
    lines += [f"- {_describe(reason)}" for reason in results["reasons"]]
    return _cut(lines, results["command"] or "evalgate run", MAX_LINES)


def _describe(reason: ReasonDoc) -> str:
    variant = reason.get("variant")
    scenario = f"{reason.get('scenario')}[{variant}]" if variant else reason.get("scenario")
    place = " / ".join(part for part in (reason.get("suite"), scenario) if part)
    text = f"{reason['code']}: {unmark_parts(reason['message'])}"
    return escape_terminal(f"{place}: {text}" if place else text, TEXT_LIMIT)


def _cut(lines: list[str], command: str, most: int) -> str:
    left = len(lines) - most + 1
    if left <= 1:
        return "\n".join(lines)
    return "\n".join([*lines[: most - 1], escape_terminal(f"... {left} more lines: {command}", None)])
