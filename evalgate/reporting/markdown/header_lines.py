"""Sentences of a report that stand alone: its baseline and how it was found, and what is lost."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from evalgate.models.comparison.comparison import IMPROVEMENTS, MODEL, OTHER_PROMPT, OTHER_TOOLS, REGRESSIONS
from evalgate.reporting.markdown.statistics_rows import list_growth
from evalgate.reporting.text.changes import describe_baseline_run, describe_lack, describe_off, is_off
from evalgate.reporting.text.escaping import escape_span
from evalgate.reporting.text.scenario_sections import is_certain, list_scenarios
from evalgate.reporting.text.wording import (
    DAY,
    age,
    dollars,
    join_words,
    mean_count,
    percent,
    pluralize,
    rare_percent,
    scenario_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.approvals.review import TriggeringRun
    from evalgate.models.results.results import BaselineDoc, DriftDoc, GrownFigureDoc, ResultsDoc, ScenarioDoc
    from evalgate.reporting.markdown.links import Links


def format_origin(run: TriggeringRun, run_url: str, links: Links) -> str:
    """Formats one line of Markdown; a fork's own results are marked as no proof."""
    where = f"Evaluated in [run {run.id}]({run_url}) at {links.head(run.head_sha)}"
    if links.failure:
        where = f"**The run itself ended with {links.failure.replace('_', ' ')}; its report says pass.** {where}"
    if run.is_same_repository:
        return f"{where}."
    repository = escape_span(run.head_repository, 200)
    what = "review the change, or run it on a branch of this repository."
    return f"{where} of the fork {repository}, which controls its results (a pass would prove nothing): {what}"


MAX_BRANCH = 60
MAX_TYPES = 5
MAX_TYPE = 60
_STATUS_WORDS = {
    "exact": "",
    "latest": "the latest of its branch, not the base commit",
    "given": "chosen with --baseline",
}
_CREATED_BY_PUSH = ("none", "expired")
_UNKNOWN = "neither changes nor what is still not as asked can be shown"
_MISSING_WORDS = {
    "none": "none yet, so changes can't be shown",
    "expired": f"the last one expired, so {_UNKNOWN}",
    "refused": f"refused, so {_UNKNOWN}; the warning above gives the reason",
    "unreachable": f"could not be fetched, so {_UNKNOWN}; the warning above gives the reason",
}


def format_baseline(document: ResultsDoc, links: Links, merging: str, *, makes_baseline: bool = False) -> str:
    """Formats as one line of Markdown whether the run blocks `merging`, if it is asked, commit, baseline and rules."""
    baseline = document["baseline"]
    commit = document["commit"]
    merging = f"**Blocks merging: {merging}** \u00b7 " if merging else ""
    if document["summary"] is None:
        return f"{merging}{f'{links.judged(commit)} was not judged' if commit else 'Nothing was judged'}"
    tested = f"{merging}{links.judged(commit)} \u00b7 " if commit else merging
    if baseline is None:
        return f"{tested}**Baseline** none given, so changes can't be shown"
    status = baseline["status"]
    if is_off(document):
        return f"{tested}**Baseline** none: {describe_off(document, escape_span)}"
    if lack := describe_lack(document, escape_span):
        return f"{tested}**Baseline** none: {lack}{'; run it again there' if baseline.get('runs') else ''}"
    if status in _MISSING_WORDS:
        push = "" if makes_baseline or status not in _CREATED_BY_PUSH else _name_creating_push(baseline)
        remedy = f"{push} {'a new one' if status == 'expired' else 'it'}" if push else ""
        return f"{tested}**Baseline** {_MISSING_WORDS[status]}{remedy}"
    made = f"of {run}" if (run := describe_baseline_run(document)) else ""
    facts = [fact for fact in (made, _status(baseline), _age(baseline), _describe_drift(baseline)) if fact]
    own = f"{_name_creating_push(baseline)} its own" if baseline.get("target") and not makes_baseline else ""
    found = " \u00b7 ".join(filter(None, [_commit(baseline, links), ", ".join(facts)]))
    return f"{tested}**Baseline** {found}{own}{_rules(document)}"


def _name_creating_push(baseline: BaselineDoc) -> str:
    branch = baseline.get("target")
    return f"; the next push to {escape_span(branch, MAX_BRANCH) if branch else 'the base branch'} creates"


def _rules(document: ResultsDoc) -> str:
    """Describes the rules that decided, if they came from the baseline; else empty."""
    rules = document.get("rules")
    if not rules:
        return ""
    is_same = rules["config_hash"] == rules["proposed_config_hash"]
    source = "the same as the commit's own" if is_same else "which differ from the commit's own"
    return f" \u00b7 **Rules** from the baseline, {source}"


def _commit(baseline: BaselineDoc, links: Links) -> str:
    if baseline["sha"]:
        branch = baseline.get("branch")
        return links.base(baseline["sha"]) + (f" of {escape_span(branch, MAX_BRANCH)}" if branch else "")
    return escape_span(baseline["path"]) if baseline["path"] else "from an unknown commit"


def _status(baseline: BaselineDoc) -> str:
    status, distance = baseline["status"], baseline["distance"]
    drift = baseline.get("drift") if status == "drifted" else None
    if drift:
        status = drift["found"]
    if status == "ancestor":
        back = f"{pluralize(distance, 'commit')} before" if distance else "an ancestor of"
        return f"{back} the base commit"
    words = _STATUS_WORDS.get(status)
    return escape_span(status) if words is None else words


def _describe_drift(baseline: BaselineDoc) -> str:
    """Describes which rules differ from the baseline's, as they alone may cause a change."""
    if baseline["status"] != "drifted":
        return ""
    drift = baseline.get("drift")
    if not drift:
        return "evaluated with other suites or evaluators, which may cause changes"
    types = [escape_span(each["type"], MAX_TYPE) for each in drift["evaluators"][:MAX_TYPES]]
    left = len(drift["evaluators"]) - MAX_TYPES
    more = [f"{left} more checks"] if left > 0 else []
    parts = [
        *([f"different suites or settings{_name_files(drift)}"] if drift["suites"] else []),
        *([f"different versions of {join_words([*types, *more])}"] if types else []),
    ]
    return f"evaluated with {join_words(parts) or 'different rules'}, which may cause changes"


def _name_files(drift: DriftDoc) -> str:
    files = drift.get("files", [])
    left = len(files) - MAX_TYPES
    names = [*(escape_span(each, MAX_BRANCH) for each in files[:MAX_TYPES]), *([f"{left} more"] if left > 0 else [])]
    return f" ({join_words(names)})" if names else ""


def _age(baseline: BaselineDoc) -> str:
    seconds = baseline["age_seconds"]
    return "" if seconds is None or seconds < DAY else age(seconds)


MAX_AGENT_CHANGES = 3
"""Most sentences about what regressions come with."""


class AgentChanges(NamedTuple):
    """How many regressions there are, and the numbers of those that come with each change of the agent."""

    total: int
    regressions: dict[str, frozenset[int]]

    @property
    def of_all(self) -> set[str]:
        """What all regressions come with."""
        return {item for item, numbers in self.regressions.items() if len(numbers) == self.total}


def find_agent_changes(document: ResultsDoc) -> AgentChanges:
    """Finds what the regressions of a run come with: another model, other tools or another prompt."""
    changes = [scenario["change"] for suite in document["suites"] for scenario in suite["scenarios"]]
    worse = [change for change in changes if change and change["kind"] in REGRESSIONS]
    numbers: dict[str, set[int]] = {}
    for number, change in enumerate(worse):
        for item in change.get("comes_with", ()):
            numbers.setdefault(item, set()).add(number)
    return AgentChanges(len(worse), {item: frozenset(found) for item, found in numbers.items()})


def describe_agent_changes(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """Returns one line: all scenarios that broke or regressed come with another model, or so many of them.

    Or that their model, tools and prompt are the same, as far as all traces record it. `escape` is applied to model
    names.
    """
    total, regressions = find_agent_changes(document)
    if not regressions:
        return _describe_same_parts(document)
    together: dict[frozenset[int], list[str]] = {}
    for item, numbers in regressions.items():
        together.setdefault(numbers, []).append(_escape_item(item, escape))
    most_first = sorted(together.items(), key=lambda each: -len(each[0]))[:MAX_AGENT_CHANGES]
    return " ".join(f"{_count_of(len(numbers), total)} {join_words(items)}." for numbers, items in most_first)


def _describe_same_parts(document: ResultsDoc) -> str:
    """What all that got worse records of the agent and has in common with the baseline; empty if nothing is known."""
    changes = [scenario["change"] for suite in document["suites"] for scenario in suite["scenarios"]]
    worse = [change.get("same_parts", []) for change in changes if change and change["kind"] in REGRESSIONS]
    shared = [each for each in (worse[0] if worse else ()) if all(each in others for others in worse)]
    if not shared:
        return ""
    names = join_words(shared)
    return f"{names[:1].upper()}{names[1:]} {'is' if len(shared) == 1 else 'are'} the same as in the baseline."


def _escape_item(item: str, escape: Callable[[str], str]) -> str:
    if item in (OTHER_TOOLS, OTHER_PROMPT):
        return item
    name = item.removeprefix(MODEL)
    return escape(item) if name == item else f"{MODEL}{escape(name)}"


def _count_of(number: int, total: int) -> str:
    if total == 1:
        return "The scenario that got worse comes with"
    shown = f"All {total:,} scenarios" if number == total else f"{number:,} of {pluralize(total, 'scenario')}"
    return f"{shown} that broke or regressed {'comes' if number == 1 else 'come'} with"


MOST_NAMED = 3
"""Scenarios that a line names."""


def describe_lost_figures(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """Returns one line that names the figures which the baseline has and this run lacks; else empty."""
    gone: dict[tuple[str, str | None], list[str]] = {}
    partly: list[str] = []
    for suite in document["suites"]:
        for scenario in suite["scenarios"]:
            change = scenario["change"]
            for each in change.get("lost", ()) if change else ():
                name = escape(scenario_name(scenario["id"], scenario["variant"]))
                if each["missing"] == each["trials"]:
                    gone.setdefault((each["figure"], each["why"]), []).append(name)
                else:
                    partly.append(f"{each['figure']} of {name} in {each['missing']} of {each['trials']} trials")
    whole = [
        f"{figure} of {names[0] if len(names) == 1 else pluralize(len(names), 'scenario')}{f' ({why})' if why else ''}"
        for (figure, why), names in gone.items()
    ]
    left = len(partly) - MOST_NAMED
    listed = [*whole, *partly[:MOST_NAMED], *([f"{left:,} more"] if left > 0 else [])]
    return f"No longer recorded: {join_words(listed)}." if listed else ""


def describe_lost_causes(document: ResultsDoc) -> str:
    """Why traces record figures no longer that those of the baseline do, where a heading says which; may be empty."""
    changes = (each["change"] for each in list_scenarios(document))
    lost = [each for change in changes if change for each in change.get("lost", ())]
    causes = list(dict.fromkeys(each["why"] for each in lost if each["why"]))
    figures = {each["figure"] for each in lost}
    cause = causes[0] if len(causes) == 1 else ""
    if len(figures) == 1:
        cause = cause.replace("record none", f"record no {figures.pop()}")
    return f"{cause[:1].upper()}{cause[1:]}." if cause else ""


_Sides = tuple[str, float, float]
MOST_GROWN = 2
"""Sets of scenarios that grew alike, of which the figures are shown."""


def describe_growth(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """Returns one line that names the scenarios whose cost or tokens grew most.

    If those of the run did not grow much, it names only scenarios whose trials are all far above the baseline's.
    """
    scenarios, is_whole = list_scenarios(document), bool(list_growth(document))
    grown = [
        (each, figures)
        for each in scenarios
        if (figures := _find_grown(each)) and (is_whole or any(figure.get("every_trial") for figure in figures))
    ]
    grown.sort(key=lambda each: (each[1][0]["figure"] != "cost", each[1][0]["before"] - each[1][0]["now"]))
    alike: dict[frozenset[_Sides], list[ScenarioDoc]] = {}
    for scenario, figures in grown:
        alike.setdefault(frozenset(map(_list_sides, figures)), []).append(scenario)
    shown = [
        f"{_name_alike(found, len(scenarios), escape)}: {_describe_figures(figures)}"
        for figures, found in list(alike.items())[:MOST_GROWN]
    ]
    left = sum(len(found) for found in list(alike.values())[MOST_GROWN:])
    return f"Grew most: {'; '.join([*shown, *([f'{left:,} more by less'] if left else [])])}." if shown else ""


def _find_grown(scenario: ScenarioDoc) -> list[GrownFigureDoc]:
    return scenario["change"].get("grown", []) if scenario["change"] else []


def _list_sides(figure: GrownFigureDoc) -> _Sides:
    """A figure before and now; of calls only that they are as many, if they are."""
    before, now = figure["before"], figure["now"]
    return (
        (figure["figure"], 0, 0) if figure["figure"] == "calls" and before == now else (figure["figure"], before, now)
    )


def _name_alike(found: Sequence[ScenarioDoc], whole: int, escape: Callable[[str], str]) -> str:
    if len(found) == whole > 1:
        return f"all {whole:,} scenarios alike"
    names = [escape(scenario_name(each["id"], each["variant"])) for each in found[:MOST_NAMED]]
    left = len(found) - MOST_NAMED
    return join_words([*names, *([f"{left:,} more"] if left > 0 else [])])


ABOUT_EQUAL = 0.05
"""Up to which share of a figure a change of it is not worth a word."""


@lru_cache(maxsize=16)
def _describe_figures(figures: frozenset[_Sides]) -> str:
    """What a trial cost and took, before and now, and whether it made other calls."""
    of = {name: sides for name, *sides in figures}
    cost, tokens, calls = of.get("cost"), of.get("tokens"), of.get("calls")
    parts = [_describe_part(word, of.get(f"{word}_tokens")) for word in ("input", "output")]
    moved = [f"{dollars(cost[0]).removesuffix(' USD')} \u2192 {dollars(cost[1])}"] if cost else []
    same = ["tokens"] if tokens and abs(tokens[1] / tokens[0] - 1) <= ABOUT_EQUAL else []
    if tokens and not same:
        split = f" ({join_words(parts)})" if all(parts) else ""
        moved.append(f"{mean_count(tokens[0])} \u2192 {mean_count(tokens[1])} tokens{split}")
    if calls is None or calls[0] == calls[1]:
        same += ["tool calls"] if calls else []
        return f"{join_words(moved)} a trial{f', with as many {join_words(same)}' if same else ''}"
    others = f"{calls[1]:.3g} tool call{'' if calls[1] == 1 else 's'} instead of {calls[0]:.3g}"
    return f"{join_words(moved)} a trial, with {join_words([*(f'as many {each}' for each in same), others])}"


def _describe_part(word: str, sides: Sequence[float] | None) -> str:
    """A part of the tokens: `input 900 -> 2,100`, or `output 60`; empty if it is unknown."""
    if sides is None:
        return ""
    before, now = map(mean_count, sides)
    return f"{word} {before}" if before == now else f"{word} {before} \u2192 {now}"


MAX_SUITES = 5


def describe_mutations(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """Returns how many small changes the changed suites notice; `escape` is applied to their names. Else empty."""
    found = document.get("mutations") or []
    parts = [
        f"{escape(each['suite'])} {percent(each['score'])} of {pluralize(each['changes'], 'small change')}"
        + ("" if each["baseline_score"] is None else f", before {percent(each['baseline_score'])}")
        for each in found[:MAX_SUITES]
        if each["score"] is not None
    ]
    more = f"; and {pluralize(len(found) - MAX_SUITES, 'more suite')}" if len(found) > MAX_SUITES else ""
    return f"**The changed suites notice** {'; '.join(parts)}{more}" if parts else ""


def describe_false_alarms(document: ResultsDoc) -> str:
    """Returns how often the gate is red by chance and what it notices, by the runs of a store; else empty."""
    found = document.get("history", {}).get("calibration")
    if not found:
        return ""
    share, low, high, noticed = (rare_percent(found[name]) for name in ("share", "low", "high", "noticed"))
    past = pluralize(found["runs"], "run")
    return (
        f"This gate is red on {share} of unchanged pull requests (95% {low} to {high}) and notices a scenario whose"
        f" pass rate falls to half in {noticed}, by the last {past} of these rules."
    )


MIN_SCENARIOS = 10
"""Fewest tested scenarios for the number of false alarms; with fewer, each change can be read by itself."""
MIN_SHOWN = 0.05
"""Fewest expected false alarms worth a sentence."""


def describe_noise(document: ResultsDoc) -> str:
    """Returns one line that holds no untrusted text; empty if there is nothing to report."""
    sentences = [
        sentence for sentence in (_describe_false_alarms(document), _describe_single_trials(document)) if sentence
    ]
    return " ".join(sentences)


def _describe_false_alarms(document: ResultsDoc) -> str:
    comparison = document.get("comparison")
    if not comparison or comparison["tested"] < MIN_SCENARIOS:
        return ""
    expected = comparison["expected_false_alarms"] or 0
    if expected < MIN_SHOWN or not any(map(_may_be_chance, list_scenarios(document))):
        return ""
    return (
        f"If nothing had changed, chance alone would mark at most {expected:.1f} of the {comparison['tested']:,}"
        " scenarios with several trials as broken or fixed."
    )


def _may_be_chance(scenario: ScenarioDoc) -> bool:
    """Whether it got better or worse, and not with all trials or by a required check."""
    change = scenario["change"]
    return change is not None and change["kind"] in REGRESSIONS | IMPROVEMENTS and not is_certain(scenario)


def _describe_single_trials(document: ResultsDoc) -> str:
    found = [(each["verdict"], each["change"]) for each in list_scenarios(document) if each["change"]]
    count = sum("single_trial" in change["flags"] for verdict, change in found if verdict != "HARD_FAIL")
    verb = "is" if count == 1 else "are"
    return f"{pluralize(count, 'change')} {verb} based on a single trial and may be noise." if count else ""
