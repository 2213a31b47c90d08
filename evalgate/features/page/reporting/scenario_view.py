"""One scenario as a section of the page: why it fails, the checks of all trials side by side, how to repeat it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.features.page.reporting.cells import build_cell, split_marks
from evalgate.features.page.reporting.checks_view import build_checks
from evalgate.features.page.reporting.difference import build_difference, find_difference
from evalgate.features.page.reporting.golden_view import build_golden
from evalgate.features.page.reporting.page_view import Fact, FigureRow, RowView, ScenarioView, TrialView
from evalgate.features.page.reporting.scenario_order import acts_differently, compare_with_baseline, list_groups
from evalgate.features.page.reporting.trace_details import NOTHING_RECORDED, describe_endings, is_unanswered
from evalgate.measures.values.json_values import shorten
from evalgate.models.comparison.comparison import IMPROVEMENTS
from evalgate.reporting.text import wording
from evalgate.reporting.text.behaviour_lines import (
    describe_baseline_side,
    describe_example,
    describe_first_act,
    find_shown_change,
    label_differences,
    list_unasked,
)
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.scenario_sections import (
    count_passed,
    describe_change,
    describe_checks,
    describe_pass_rule,
    describe_unmet_rule,
    is_crash,
    list_grave_reasons,
)
from evalgate.reporting.text.sentences import unmark_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from evalgate.features.page.reporting.page_view import DifferenceView
    from evalgate.features.page.reporting.trace_details import RecordedPair
    from evalgate.models.comparison.comparison import CallsDiff, Cause
    from evalgate.models.comparison.trajectory import TrajectoryDiff
    from evalgate.models.results.results import ChangeDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.run.trial_doc import TrialDoc
    from evalgate.reporting.text.scenario_sections import SuiteScenario

    BlockNumbers = Mapping[tuple[str, int | None, int | None], int]

MAX_TRIALS, MAX_TEXT, MAX_NAME = 20, 2_000, 300
"""Trials side by side in one table, characters of a text, and of a name."""
NO_BLOCK = "not in this file"
NO_TRACES = "its conversation is in the baseline.zip of the run"
NO_BASELINE = "The baseline's conversation is not in this file: `evalgate view --baseline baseline.zip` adds it."


NOT_COMPARED = (
    "The baseline's conversation is not in this file: the baseline does not hold it,"
    " or the page has compared enough other scenarios."
)


class RunStatements(NamedTuple):
    """What is so for the whole run: what all regressions come with, how to repeat it, and whether approvals count."""

    causes: Collection[str] = ()
    command: str | None = None
    may_approve: bool = True


def build_row(
    number: int, item: SuiteScenario, tags: Sequence[int], recorded: RecordedPair = NOTHING_RECORDED
) -> RowView:
    """The scenario in the list of all; `tags` are the numbers of its tags."""
    scenario = item.scenario
    name = clean_page_text(wording.scenario_name(scenario["id"], scenario["variant"]), MAX_NAME)
    return RowView(
        number,
        name,
        build_cell(scenario["verdict"]),
        compare_with_baseline(item),
        _find_finding(item, recorded),
        " ".join(map(str, tags)),
        _count_passed(scenario),
        tuple(list_groups(item)),
    )


def _count_passed(scenario: ScenarioDoc) -> str:
    """How many trials passed, with the rule that decides: `3 of 4, all must pass`."""
    if not scenario["n"]:
        return "0"
    return ", ".join(filter(None, [f"{count_passed(scenario)} of {scenario['n']}", describe_pass_rule(scenario)]))


def _find_finding(item: SuiteScenario, recorded: RecordedPair) -> str:
    """How the run ended if that failed it, or what differs most in a few words, else the first failed check."""
    text = describe_first_act(item.scenario) if acts_differently(item) else ""
    text = next(iter(list_grave_reasons(item.scenario)), "") if is_crash(item.scenario) else text
    if text:
        return clean_page_text(shorten(unmark_parts(text), MAX_FINDING))
    found = find_difference(find_shown_change(item.scenario), is_unanswered=is_unanswered(recorded.now))
    return found or _find_failed_check(item.scenario)


def _find_failed_check(scenario: ScenarioDoc) -> str:
    """The name of the first failed check of the trial that the page shows first, a required one before others."""
    checks = next((trial.assertions for trial in order_trials(scenario)[:1]), [])
    failed = [check for check in checks if check.outcome in ("failed", "error")]
    first = min(failed, key=lambda check: not check.required, default=None)
    return clean_page_text(shorten(first.name, MAX_FINDING)) if first else ""


MAX_FINDING = 160


class Shown(NamedTuple):
    """The numbers of the conversations in the page by place, and that of the baseline's trial of one scenario.

    `has_traces` is whether the run's traces were read, `has_baseline` whether the baseline's were.
    """

    blocks: BlockNumbers
    has_traces: bool
    has_baseline: bool
    baseline: int | None = None


def build_scenario_view(
    row: RowView,
    item: SuiteScenario,
    rulings: Sequence[Fact],
    recorded: RecordedPair,
    shown: Shown,
    stated: RunStatements,
) -> ScenarioView:
    """The section of a scenario."""
    suite, scenario = item.suite, item.scenario
    every = order_trials(scenario)
    trials = every[:MAX_TRIALS]
    checks = build_checks(every, scenario["change"], len(trials))
    left = len(every) - len(trials)
    names = [check.name for trial in every for check in trial.assertions]
    return ScenarioView(
        row,
        wording.score(scenario["score"]),
        checks.reasons,
        list_reasons(scenario, names, stated.causes),
        [*_list_facts(suite, scenario), *rulings],
        build_golden(scenario),
        _build_difference(scenario, recorded),
        checks.failed,
        checks.not_evaluable,
        checks.names,
        checks.passed,
        [*_build_recorded(recorded, len(trials)), *_build_figures(scenario, trials)],
        recorded.now.message,
        [build_trial(trial, shown.blocks, has_traces=shown.has_traces) for trial in trials],
        *_build_baseline(scenario, shown),
        f"{wording.pluralize(left, 'more trial')} not shown" if left > 0 else "",
        _list_commands(suite, scenario, stated),
    )


def _build_difference(scenario: ScenarioDoc, recorded: RecordedPair) -> DifferenceView | None:
    """The difference, with the message of the user that each recording ends with."""
    view = build_difference(
        find_shown_change(scenario),
        is_passing=scenario["verdict"] == "PASS",
        is_unanswered=is_unanswered(recorded.now),
    )
    if view is not None:
        view.endings = describe_endings(recorded)
    return view


def find_compared(scenario: ScenarioDoc) -> CallsDiff | TrajectoryDiff | None:
    """The comparison of a trial with one of the baseline, if the page shows one."""
    change = find_shown_change(scenario)
    return (change.get("behaviour") or change.get("calls")) if change else None


def _build_baseline(scenario: ScenarioDoc, shown: Shown) -> tuple[TrialView | None, str]:
    """The baseline's trial that was compared, if the page holds its conversation; else why it does not."""
    compared = find_compared(scenario)
    if compared is None or not shown.has_traces:
        is_better = scenario["change"] is not None and scenario["change"]["kind"] in IMPROVEMENTS
        return None, (NOT_COMPARED if shown.has_baseline else NO_BASELINE) if is_better and shown.has_traces else ""
    if shown.baseline is None:
        return None, NO_BLOCK if shown.has_baseline else NO_BASELINE
    return TrialView(compared.trial_before, build_cell("baseline"), "", "", shown.baseline, ""), ""


def _build_recorded(recorded: RecordedPair, columns: int) -> list[FigureRow]:
    """The scores that a benchmark or a person left in the compared trial, and in the baseline's."""
    baseline = recorded.baseline.scores if recorded.baseline else {}
    more = [""] * (columns - 1)
    return [
        FigureRow(f"Recorded {name}", f"{baseline[name]:g}" if name in baseline else "", [f"{value:g}", *more])
        for name, value in recorded.now.scores.items()
    ]


def order_trials(scenario: ScenarioDoc) -> list[TrialDoc]:
    """The trials, of which the page shows the first: the compared one, then those that did not pass, each by number."""
    compared = find_compared(scenario)
    number = compared.trial if compared else None
    return sorted(scenario["trials"], key=lambda each: (each.trial != number, each.status == "passed", each.trial))


def list_reasons(
    scenario: ScenarioDoc, checks: Sequence[str] = (), stated: Collection[str] = ()
) -> list[Sequence[str]]:
    """Why the scenario has its verdict, and what changed, as sentences in parts.

    It leaves out those of the named checks, and a cause that the page states once for all regressions.
    """
    change, reason = scenario["change"], scenario["reason"] or ""
    is_repeated = reason.startswith(tuple(f"{name}: " for name in checks))
    texts = [describe_unmet_rule(scenario) if is_repeated else reason]
    texts += [describe_change(scenario)] if change and change["kind"] != "unchanged" else []
    if change and (cause := change.get("cause")) and not _is_stated(change, cause, stated):
        texts.append(cause.message)
    texts += change["increases"] if change else []
    if scenario["verdict"] == "PASS":
        texts += [f"{words}{detail}" for words, detail in label_differences(scenario)]
        texts += _describe_new(scenario) if change and change["kind"] == "new" else []
    texts += [*list_unasked(scenario), describe_baseline_side(scenario)]
    return [split_marks(text) for text in texts if text]


def _describe_new(scenario: ScenarioDoc) -> list[str]:
    """How a new scenario is checked, and what the agent called and answered in one trial of it."""
    example = describe_example(scenario)
    calls, answer = example.calls and f"calls: {example.calls}", example.answer and f"answer: {example.answer}"
    return [describe_checks(scenario), calls, answer]


def _is_stated(change: ChangeDoc, cause: Cause, stated: Collection[str]) -> bool:
    return cause.kind == "model_or_tools" and set(change.get("comes_with", ())) <= set(stated)


def _list_facts(suite: SuiteDoc, scenario: ScenarioDoc) -> list[Fact]:
    facts = [Fact("Suite", suite["suite"]), Fact("Defined in", wording.location(scenario["location"]))]
    if scenario["verdict"] != "PASS":
        found = [(words, unmark_parts(detail).lstrip(": ")) for words, detail in label_differences(scenario)]
        facts += [Fact(words.capitalize(), detail) for words, detail in found]
    return [Fact(label, clean_page_text(text, MAX_TEXT)) for label, text in facts if text]


_FIGURES: Sequence[tuple[str, str, Callable[[Any], str]]] = (
    ("Score", "score", wording.score),
    ("Cost", "cost_usd", wording.dollars),
    ("Latency", "latency_seconds", wording.seconds),
    ("Tokens", "total_tokens", wording.mean_count),
)


def _build_figures(scenario: ScenarioDoc, trials: Sequence[TrialDoc]) -> list[FigureRow]:
    """Score, cost, latency, tokens and calls of each trial, without those that no trial knows."""
    change = scenario["change"]
    behaviour = change.get("behaviour") if change else None
    baseline = {each.name: each.baseline for each in behaviour.figures} if behaviour else {}
    rows = []
    for name, key, describe in _FIGURES:
        values: list[float | None] = [getattr(trial, key) for trial in trials]
        before = baseline.get(key)
        if any(value is not None for value in values):
            rows.append(FigureRow(name, "" if before is None else describe(before), list(map(describe, values))))
        elif name == "Cost":
            rows.append(FigureRow(name, "", ["unknown" for _ in trials]))
    return [*rows, FigureRow("Calls", "", [f"{len(each.tool_calls):,}" for each in trials])]


def build_trial(trial: TrialDoc, blocks: BlockNumbers, *, has_traces: bool) -> TrialView:
    """A trial, and the number of its conversation in the page."""
    trace = trial.trace
    block = blocks.get((trace.path, trace.line, trace.record))
    number = trace.line if trace.line is not None else trace.record
    place = trace.path if number is None else f"{trace.path}:{number}"
    return TrialView(
        trial.trial,
        build_cell(trial.status),
        clean_page_text(place, MAX_TEXT),
        clean_page_text(trial.reason or "", MAX_TEXT),
        block,
        "" if block is not None else NO_BLOCK if has_traces else NO_TRACES,
    )


def _list_commands(suite: SuiteDoc, scenario: ScenarioDoc, stated: RunStatements) -> list[Fact]:
    """Commands to paste, quoted for a shell; not for names that a page can't show as they are."""
    name = wording.scenario_name(scenario["id"], scenario["variant"])
    words = [shlex.quote(scenario["id"]), "--suite", shlex.quote(suite["suite"])]
    words += ["--variant", shlex.quote(scenario["variant"])] if scenario["variant"] else []
    which = " ".join(words)
    facts = [Fact("Repeat", f"{stated.command or 'evalgate run'} --scenario {shlex.quote(name)}")]
    if scenario["verdict"] != "PASS" and stated.may_approve:
        facts.append(Fact("Accept until a date", f"evalgate approve {which} --because REASON --until YYYY-MM-DD"))
    return [
        fact if clean_page_text(fact.text, MAX_TEXT) == fact.text else Fact(fact.label, NO_COMMAND) for fact in facts
    ]


NO_COMMAND = "no command: a name in it can't be shown as it is"
