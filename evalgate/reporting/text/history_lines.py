"""Stability of scenarios as text: "passed 18 of the last 20 runs, flaky since 2026-03-16"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_history import FlakyDoc

NAME = 200
DAY = 10
"""Number of characters in the date part of a timestamp."""
Key = tuple[str, str, str | None]


def flaky_in(document: ResultsDoc, *, new: bool | None = None) -> Sequence[FlakyDoc]:
    """Lists flaky scenarios, newly flaky ones first; `new` keeps only newly flaky ones, or only others."""
    history = document.get("history")
    found = history["flaky"] if history else []
    return [each for each in found if new in (None, each["new"])]


def flaky_line(flaky: FlakyDoc, aside: set[Key]) -> str:
    """Formats one flaky scenario as Markdown, escaped; `aside` holds the keys in quarantine."""
    named = span(" / ".join(filter(None, _key(flaky))), NAME)
    put = ", in quarantine" if _key(flaky) in aside else ""
    return f"{named} {span(flaky_words(flaky), NAME)}{put}"


def flaky_words(flaky: FlakyDoc) -> str:
    """Describes how often a scenario passed, and since when it is flaky."""
    since = f"flaky since {flaky['since'][:DAY]}" if flaky["since"] else "flaky"
    fresh = "newly " if flaky["new"] else ""
    return f"{share_words(flaky['passed'], flaky['runs'])}, {fresh}{since}"


def share_words(passed: int, runs: int) -> str:
    """Returns a text like `passed 18 of the last 20 runs`."""
    if runs == 1:
        return "passed the last run" if passed else "did not pass the last run"
    return f"passed {passed} of the last {runs} runs"


def set_aside(document: ResultsDoc) -> set[Key]:
    """Returns the keys of all scenarios in quarantine."""
    return {
        (suite["suite"], each["id"], each["variant"])
        for suite in document["suites"]
        for each in suite["scenarios"]
        if each.get("quarantined")
    }


def _key(flaky: FlakyDoc) -> Key:
    return flaky["suite"], flaky["scenario"], flaky["variant"]
