"""Differences of behaviour and changed prompts in words, for every report: of scenarios that pass, or of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from evalgate.measures.text.plain_text import mark_part
from evalgate.measures.values.json_values import shorten
from evalgate.reporting.text.changes import (
    ACTS_DIFFERENTLY,
    OTHER_ASKED,
    OTHER_MODEL,
    OTHER_PROMPT,
    OTHER_TOOLS,
    QUIET,
    name_differences,
)
from evalgate.reporting.text.scenario_sections import SuiteScenario, find_request, list_scenarios, sort_scenarios
from evalgate.reporting.text.trajectory_lines import NO_EFFECT
from evalgate.reporting.text.wording import join_words, pluralize, scenario_name
from evalgate.scoring.wording import describe_difference, is_as_asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.behaviour import BehaviourDifference, PromptChange, UnaskedArgument
    from evalgate.models.comparison.trajectory import CallStep, TrialExample
    from evalgate.models.results.results import ChangeDoc, ResultsDoc, ScenarioDoc


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


MOST_NAMED, SHORT_SHA = 3, 7
"""Scenarios that one line names, and characters of a commit."""
MOST_LISTED = 20
"""Arguments of a scenario that are not as asked, as many as a run keeps."""
_ACTS = frozenset({"calls", "some_calls", "argument", "source", "outcome", "state", "file", "status", "maker"})
_SEVERAL = {each.one: each.several for each in (OTHER_MODEL, OTHER_ASKED, OTHER_TOOLS, OTHER_PROMPT)}
_OF_AGENT = frozenset({"model", *QUIET})
"""Kinds that often differ in the same way in many scenarios."""
_IN_WORDS = ("answer with other words: ", "model: ", "another system prompt", "other tool definitions")
"""Beginnings of sentences that words of headings say."""


def list_silent_differences(document: ResultsDoc) -> list[DifferenceLine]:
    """The differences of all scenarios that pass as before, acts first, else in the order of the document.

    Of the agent itself, what differs in the same way in several scenarios is one line, the last.
    """
    lines, of_agent = list[DifferenceLine](), dict[str, list[DifferenceLine]]()
    for _, scenario, _ in list_differing(document):
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


def list_differing(document: ResultsDoc) -> list[SuiteScenario]:
    """The scenarios that pass as before and act differently, in the order of the document."""
    return [
        SuiteScenario(suite, each)
        for suite in document["suites"]
        for each in suite["scenarios"]
        if each["verdict"] == "PASS"
        and "differences" in each
        and not (each["change"] and each["change"]["kind"] == "fixed")
    ]


def differ_beyond_setup(document: ResultsDoc) -> bool:
    """Whether any of them differs in more than its prompt, its tools or how its model was asked."""
    scenarios = (each.scenario for each in list_differing(document))
    return any(found.kind not in QUIET for each in scenarios for found in each.get("differences", ()))


def find_shown_change(scenario: ScenarioDoc) -> ChangeDoc | None:
    """The change of a scenario, None for one that passes as before: single trials of it differ by chance."""
    change = scenario["change"]
    is_pass = scenario["verdict"] == "PASS" and "differences" not in scenario
    return None if is_pass and change and change["kind"] == "unchanged" else change


def list_acting(document: ResultsDoc) -> list[SuiteScenario]:
    """Those of them that do more than answer with other words, or run with another model, prompt or tools."""
    return [
        each
        for each in list_differing(document)
        if name_differences(each.scenario.get("differences", ())) is ACTS_DIFFERENTLY
    ]


def list_notable(document: ResultsDoc) -> list[SuiteScenario]:
    """What fails or regressed, worst first and without quarantined ones, then what passes and acts differently."""
    sections = sort_scenarios(document)
    failing = [*sections.failures, *sections.regressed, *sections.below, *sections.known]
    known = {id(each.scenario) for each in failing}
    return [*failing, *(each for each in list_differing(document) if id(each.scenario) not in known)]


def _sort_acts_first(scenario: ScenarioDoc) -> list[BehaviourDifference]:
    return sorted(scenario.get("differences", ()), key=lambda each: each.kind not in _ACTS)


def describe_first_act(scenario: ScenarioDoc) -> str:
    """The first thing that a scenario does otherwise than in the baseline, without an example."""
    return describe_difference(replace(_sort_acts_first(scenario)[0], example=UNSET))


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


def describe_unasked(document: ResultsDoc) -> str:
    """Which scenarios still pass another value than the user asked for, as the baseline did; empty if none does."""
    found = [each for each in list_scenarios(document) if _list_kept(each)]
    shown = [f"{_name(each)} {(all_of := list_unasked(each))[0]}{_count_more(all_of)}" for each in found[:MOST_NAMED]]
    left = len(found) - MOST_NAMED
    more = [f"{pluralize(left, 'more scenario')} like {'it' if left == 1 else 'them'}"] if left > 0 else []
    if not shown:
        return ""
    branch = document["baseline"].get("branch") if document["baseline"] else None
    where = f", also on {mark_part(branch)}" if branch else ""
    return f"Not as asked{where}: {'; '.join([*shown, *more])}. {ENDING}."


ENDING = "Fix the agent, or name the value in a check if it is right"


def list_unasked(scenario: ScenarioDoc) -> list[str]:
    """The same of one scenario, a sentence each: `still calls ...`. What this run found, its differences say."""
    return [f"still {_describe_unasked(each)}" for each in _list_kept(scenario)[:MOST_LISTED]]


def _list_kept(scenario: ScenarioDoc) -> list[UnaskedArgument]:
    return [each for each in scenario.get("unasked", ()) if each.since is not UNSET and each.trials]


def _name(scenario: ScenarioDoc) -> str:
    return mark_part(scenario_name(scenario["id"], scenario["variant"]))


def _count_more(found: Sequence[object]) -> str:
    return f", and {pluralize(len(found) - 1, 'more argument')} like it" if len(found) > 1 else ""


def _describe_unasked(found: UnaskedArgument) -> str:
    """The call with what was asked for, and in how many trials if only in some."""
    argument = mark_part(found.argument)
    passed = f"with {argument} {mark_part(found.value)}" if found.value else f"without {argument}"
    count = f" in {found.trials} of {found.of} trials" if 0 < found.trials < found.of else ""
    since = f" (since {mark_part(found.since[:SHORT_SHA])})" if found.since else ""
    return f"calls {mark_part(found.tool)} {passed}{count}, though {mark_part(found.asked)} was asked for{since}"


def describe_baseline_side(scenario: ScenarioDoc) -> str:
    """That the baseline's side of a difference of calls has another value than was asked for; else empty."""
    change = scenario["change"]
    diff = change.get("behaviour") if change else None
    gone = [step for step in diff.steps if step.kind != "same"] if diff else []
    found = [
        each
        for each in scenario.get("unasked", ())
        if each.since is not UNSET and any(step.name == each.tool and _has_before(step, each.value) for step in gone)
    ]
    words = "In the baseline (the lines with a minus) it"
    return f"{words} {_describe_unasked(found[0])}{_count_more(found)}." if found else ""


def _has_before(step: CallStep, value: str) -> bool:
    """Whether a call that is gone or changed had the value."""
    texts = [step.arguments] if step.kind == "removed" else [each.baseline or "" for each in step.changes]
    return bool(value) and any(value in text for text in texts)


def describe_later_reports(document: ResultsDoc) -> str:
    """What later reports say of how scenarios act differently, once this run, or one like it, is their baseline.

    Empty if only what the baseline did not do as asked differs, and is as was asked for.
    """
    are_kept = [
        any((kept.value, kept.asked) == (each.now.strip('"'), each.asked) for kept in scenario.get("unasked", ()))
        for _, scenario, _ in list_differing(document)
        for each in scenario.get("differences", ())
        if each.kind not in QUIET and not is_as_asked(each)
    ]
    if not are_kept:
        return ""
    if not any(are_kept):
        return "later reports do not mention it"
    what = "it" if all(are_kept) else "what was not asked for"
    return f'later reports mention {what} as "not as asked" and may be green'


MOST_CALLS, MAX_CALL, MAX_ANSWER = 5, 100, 300
"""Calls of a trial that are listed, and characters of one, and of a request or answer."""


class ExampleTexts(NamedTuple):
    """What the agent did in a trial of a new scenario, untrusted parts marked; empty where it is not known."""

    request: str
    calls: str
    answer: str


def find_example(scenario: ScenarioDoc) -> TrialExample | None:
    """The trial that is kept of a new scenario that passes; None of others."""
    return scenario["change"].get("example") if scenario["change"] else None


def describe_example(scenario: ScenarioDoc) -> ExampleTexts:
    """What the agent was asked for in the trial that is kept of a new scenario, what it called and answered."""
    found = find_example(scenario)
    if found is None:
        return ExampleTexts("", "", "")
    calls = ", ".join(_mark(each, MAX_CALL) for each in found.calls[:MOST_CALLS])
    left = found.calls_left + len(found.calls[MOST_CALLS:])
    more = f" and {left:,} more" if left else ""
    reading = f" ({NO_EFFECT})" if found.reads_only else ""
    return ExampleTexts(
        _mark(found.request, MAX_ANSWER) if found.request else "",
        f"{calls}{more}{reading}" if calls else "none" if reading else "",
        "none" if found.answer is None else _mark(found.answer, MAX_ANSWER),
    )


def _mark(text: str, limit: int) -> str:
    return mark_part(shorten(text, limit))


PART = "@@"
"""Begins a line that says from which lines on the prompts are shown."""


class PromptDiff(NamedTuple):
    """A changed prompt: `title` holds only our own words.

    `left` counts the changed lines that are left out, `others` further prompts that changed.
    `lines` are pairs of a sign (`-`, `+`, `@@` or empty) and a text.
    """

    title: str
    lines: Sequence[tuple[str, str]]
    left: int
    others: int = 0

    @property
    def more(self) -> str:
        """What is left out; empty if nothing is."""
        lines = [pluralize(self.left, "more changed line")] if self.left else []
        prompts = [pluralize(self.others, "more changed system prompt")] if self.others else []
        return f"{join_words([*lines, *prompts])} not shown" if lines + prompts else ""

    def cut(self, most: int, *, only_changed: bool = False) -> PromptDiff:
        """The same with at most so many lines."""
        kept = [line for line in self.lines if not only_changed or line[0] in ("-", "+")]
        left = self.left + sum(sign in ("-", "+") for sign, _ in kept[most:])
        return self._replace(lines=kept[:most], left=left)


def list_prompt_diffs(document: ResultsDoc, most: int | None = None) -> list[PromptDiff]:
    """The first changed prompts of a run, in the order of its scenarios; the last one counts the others."""
    shown = [_build(document, each) for each in document.get("prompt_changes", ())][:most]
    pairs = {tuple(prompts) for each in list_scenarios(document) if (prompts := _find_prompts(each))}
    return [*shown[:-1], *(each._replace(others=len(pairs) - len(shown)) for each in shown[-1:])]


def find_prompt_diff(document: ResultsDoc, scenario: ScenarioDoc) -> PromptDiff | None:
    """The changed prompt of one scenario; None if its prompt is the same, or how it differs is not known."""
    prompts = _find_prompts(scenario)
    found = (each for each in document.get("prompt_changes", ()) if [each.before, each.now] == prompts)
    return next((_build(document, each)._replace(title=_title(each)) for each in found), None)


def _build(document: ResultsDoc, change: PromptChange) -> PromptDiff:
    scenarios = list_scenarios(document)
    number = sum(_find_prompts(each) == [change.before, change.now] for each in scenarios)
    who = "" if number in (0, len(scenarios)) else f" of {pluralize(number, 'scenario')}"
    return PromptDiff(_title(change, who), list(map(_split, change.lines)), change.left)


def _find_prompts(scenario: ScenarioDoc) -> Sequence[str]:
    return scenario["change"].get("prompts", ()) if scenario["change"] else ()


def _title(change: PromptChange, who: str = "") -> str:
    lines = "line" if change.removed + change.added == 1 else "lines"
    return f"System prompt{who}: \u2212{change.removed:,} +{change.added:,} {lines}"


def _split(line: str) -> tuple[str, str]:
    if line.startswith(PART):
        return PART, line.removeprefix(PART).removesuffix(PART).strip()
    return line[:1].strip(), line[1:]
