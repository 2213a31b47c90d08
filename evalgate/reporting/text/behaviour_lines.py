"""Differences of behaviour in words, for every report: of scenarios that pass all the same, or of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.text.changes import name_differences
from evalgate.reporting.text.scenario_sections import find_request
from evalgate.reporting.text.wording import scenario_name
from evalgate.scoring.wording import describe_difference

if TYPE_CHECKING:
    from evalgate.models.comparison.behaviour import BehaviourDifference
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc


class DifferenceLine(NamedTuple):
    """One difference: the name of the scenario, and a sentence with its untrusted parts marked.

    `request` is what the user asked for; of several differences of a scenario only the first has it. `words` say what
    the scenario does: it `acts differently`, `runs with another model` ...
    `is_act` is true of calls that change something, arguments, effects and ends.
    """

    name: str
    sentence: str
    request: str
    words: str
    is_act: bool


_ACTS = frozenset({"calls", "argument", "source", "outcome", "state", "file", "status"})


def list_silent_differences(document: ResultsDoc) -> list[DifferenceLine]:
    """The differences of all scenarios that pass as before, acts first, else in the order of the document."""
    lines = [
        DifferenceLine(
            scenario_name(scenario["id"], scenario["variant"]),
            describe_difference(each),
            "" if number else find_request(scenario),
            name_differences([each]).one,
            not _is_no_act(each),
        )
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        if scenario["verdict"] == "PASS" and not (scenario["change"] and scenario["change"]["kind"] == "fixed")
        for number, each in enumerate(sorted(scenario.get("differences", ()), key=_is_no_act))
    ]
    return sorted(lines, key=lambda line: not line.is_act)


def _is_no_act(difference: BehaviourDifference) -> bool:
    return difference.kind not in _ACTS


def label_differences(scenario: ScenarioDoc) -> list[tuple[str, str]]:
    """Each difference of a scenario as `describe_differences` has it, after the words that a heading has for it."""
    differences = scenario.get("differences", ())
    return [(name_differences([each]).one, describe_difference(each)) for each in differences]


def describe_differences(scenario: ScenarioDoc) -> list[str]:
    """What one scenario does otherwise than in the baseline, a sentence each."""
    return [describe_difference(each) for each in scenario.get("differences", ())]
