"""Differences of behaviour in words, for every report: of scenarios that pass all the same, or of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.text.plain_text import mark_part
from evalgate.reporting.text.changes import OTHER_MODEL, OTHER_PROMPT, OTHER_TOOLS, name_differences
from evalgate.reporting.text.scenario_sections import find_request, list_scenarios
from evalgate.reporting.text.wording import join_words, pluralize, scenario_name
from evalgate.scoring.wording import describe_difference

if TYPE_CHECKING:
    from evalgate.models.comparison.behaviour import BehaviourDifference
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc


class DifferenceLine(NamedTuple):
    """One difference: the name of the scenario, and a sentence with its untrusted parts marked.

    `request` is what the user asked for; of several differences of a scenario only the first has it. `words` say what
    the scenario does, such as `acts differently`, and `detail` the rest of the sentence, with what leads to it.
    `is_act` is true of calls that change something, arguments, effects and ends. A line about several scenarios has
    no name, but names some of them in `who`.
    """

    name: str
    sentence: str
    request: str
    words: str
    detail: str
    is_act: bool
    who: str = ""


MOST_NAMED = 3
"""Scenarios that one line names."""
_ACTS = frozenset({"calls", "argument", "source", "outcome", "state", "file", "status"})
_SEVERAL = {each.one: each.several for each in (OTHER_MODEL, OTHER_TOOLS, OTHER_PROMPT)}
_OF_AGENT = frozenset({"model", "tools", "prompt"})
"""Kinds that often differ in the same way in many scenarios."""
_IN_WORDS = ("answer with other words: ", "model: ", "another system prompt", "other tool definitions")
"""Beginnings of sentences that words of headings say."""


def list_silent_differences(document: ResultsDoc) -> list[DifferenceLine]:
    """The differences of all scenarios that pass as before, acts first, else in the order of the document.

    Of the agent itself, what differs in the same way in several scenarios is one line, the last.
    """
    lines, of_agent = list[DifferenceLine](), dict[str, list[DifferenceLine]]()
    for scenario in list_scenarios(document):
        if scenario["verdict"] != "PASS" or (scenario["change"] and scenario["change"]["kind"] == "fixed"):
            continue
        for number, each in enumerate(_sort_acts_first(scenario)):
            line = DifferenceLine(
                scenario_name(scenario["id"], scenario["variant"]),
                describe_difference(each),
                "" if number else find_request(scenario),
                *_split_words(each),
                each.kind in _ACTS,
            )
            (of_agent.setdefault(line.sentence, []) if each.kind in _OF_AGENT else lines).append(line)
    total = len(list_scenarios(document))
    merged = [found[0] if len(found) == 1 else _merge_lines(found, total) for found in of_agent.values()]
    return [*sorted(lines, key=lambda line: not line.is_act), *merged]


def _sort_acts_first(scenario: ScenarioDoc) -> list[BehaviourDifference]:
    return sorted(scenario.get("differences", ()), key=lambda each: each.kind not in _ACTS)


def describe_first_act(scenario: ScenarioDoc) -> str:
    """The first thing that a scenario does otherwise than in the baseline."""
    return describe_difference(_sort_acts_first(scenario)[0])


def _merge_lines(found: list[DifferenceLine], total: int) -> DifferenceLine:
    """One line for what several scenarios have alike."""
    names = list(map(mark_part, dict.fromkeys(each.name for each in found)))
    left = len(names) - MOST_NAMED
    named = join_words([*names[:MOST_NAMED], *([f"{left:,} more"] if left > 0 else [])])
    who = f"all {pluralize(total, 'scenario')}" if len(found) == total else f"{len(found):,} scenarios ({named})"
    return found[0]._replace(name="", request="", words=_SEVERAL[found[0].words], who=who)


def label_differences(scenario: ScenarioDoc) -> list[tuple[str, str]]:
    """Each difference of a scenario: the words that a heading has for it, and the rest, with what leads to it."""
    return [_split_words(each) for each in scenario.get("differences", ())]


def _split_words(difference: BehaviourDifference) -> tuple[str, str]:
    words, sentence = name_differences([difference]).one, describe_difference(difference)
    said = next((each for each in _IN_WORDS if sentence.startswith(each)), "")
    rest = sentence.removeprefix(said)
    return words, rest if rest.startswith(" ") else f": {rest}"


def describe_differences(scenario: ScenarioDoc) -> list[str]:
    """What one scenario does otherwise than in the baseline, a sentence each."""
    return [describe_difference(each) for each in scenario.get("differences", ())]
