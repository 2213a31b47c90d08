"""Describes how many changes of a comparison chance alone could cause, in one or two sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc

MIN_SCENARIOS = 10
"""Fewest compared scenarios for these sentences; with fewer, each change can be read by itself."""
MIN_SHOWN = 0.05


def describe_noise(document: ResultsDoc) -> str:
    """Returns one line that holds no untrusted text; empty if there is nothing to report."""
    sentences = [
        sentence
        for sentence in (_describe_false_alarms(document), _describe_single_trials(document))
        if sentence
    ]
    return " ".join(sentences)


def _describe_false_alarms(document: ResultsDoc) -> str:
    comparison = document.get("comparison")
    if not comparison or comparison["tested"] < MIN_SCENARIOS or comparison["expected_false_alarms"] is None:
        return ""
    expected = comparison["expected_false_alarms"]
    shown = "fewer than 0.1" if expected < MIN_SHOWN else f"at most {expected:.1f}"
    return (
        f"Had nothing changed, chance alone would call {shown} of the {comparison['tested']:,} scenarios"
        " with several trials broken or fixed."
    )


def _describe_single_trials(document: ResultsDoc) -> str:
    comparison = document.get("comparison")
    if not comparison or comparison["compared"] < MIN_SCENARIOS:
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
    return f"{pluralize(single, 'change')} {rest} on a single trial: there noise can't be told from change."
