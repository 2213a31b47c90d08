"""Describes how many changes of a comparison chance alone could cause, in one or two sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.wording import counted

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc

MANY = 10
"""Fewest compared scenarios for these sentences; with fewer, each change can be read by itself."""
LEAST = 0.05


def noise(document: ResultsDoc) -> str:
    """Returns one line that holds no untrusted text; empty if there is nothing to report."""
    told = [sentence for sentence in (_expected(document), _single_trials(document)) if sentence]
    return " ".join(told)


def _expected(document: ResultsDoc) -> str:
    found = document.get("comparison")
    if not found or found["tested"] < MANY or found["expected_false_alarms"] is None:
        return ""
    expected = found["expected_false_alarms"]
    shown = "fewer than 0.1" if expected < LEAST else f"at most {expected:.1f}"
    return (
        f"Had nothing changed, chance alone would call {shown} of the {found['tested']:,} scenarios"
        " with several trials broken or fixed."
    )


def _single_trials(document: ResultsDoc) -> str:
    found = document.get("comparison")
    if not found or found["compared"] < MANY:
        return ""
    single = sum(
        "single_trial" in scenario["change"]["flags"]
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        if scenario["change"]
    )
    if not single:
        return ""
    rest = "rests" if single == 1 else "rest"
    return f"{counted(single, 'change')} {rest} on a single trial: there noise can't be told from change."
