"""Stability of scenarios as text: "passed 18 of the last 20 runs, flaky since 2026-03-16"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import escape_span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_sections import FlakyDoc

MAX_NAME = 200
DAY_LENGTH = 10
"""Number of characters in the date part of a timestamp."""
ScenarioDocKey = tuple[str, str, str | None]


def find_flaky(document: ResultsDoc, *, new: bool | None = None) -> Sequence[FlakyDoc]:
    """Lists flaky scenarios, newly flaky ones first; `new` keeps only newly flaky ones, or only others."""
    history = document.get("history")
    found = history["flaky"] if history else []
    return [each for each in found if new in (None, each["new"])]


def render_flaky(flaky: FlakyDoc, aside: set[ScenarioDocKey]) -> str:
    """Formats one flaky scenario as Markdown, escaped; `aside` holds the keys in quarantine."""
    name = escape_span(" / ".join(filter(None, _scenario_key(flaky))), MAX_NAME)
    note = ", quarantined" if _scenario_key(flaky) in aside else ""
    return f"{name} {escape_span(format_flaky(flaky), MAX_NAME)}{note}"


def format_flaky(flaky: FlakyDoc) -> str:
    """Describes how often a scenario passed, and since when it is flaky."""
    since = f"flaky since {flaky['since'][:DAY_LENGTH]}" if flaky["since"] else "flaky"
    newly = "newly " if flaky["new"] else ""
    return f"{format_passed_runs(flaky['passed'], flaky['runs'])}, {newly}{since}"


def format_passed_runs(passed: int, runs: int) -> str:
    """Returns a text like `passed 18 of the last 20 runs`."""
    if runs == 1:
        return "passed the last run" if passed else "did not pass the last run"
    return f"passed {passed} of the last {runs} runs"


def find_quarantined_keys(document: ResultsDoc) -> set[ScenarioDocKey]:
    """Returns the keys of all scenarios in quarantine."""
    return {
        (suite["suite"], each["id"], each["variant"])
        for suite in document["suites"]
        for each in suite["scenarios"]
        if each.get("quarantined")
    }


def _scenario_key(flaky: FlakyDoc) -> ScenarioDocKey:
    return flaky["suite"], flaky["scenario"], flaky["variant"]
