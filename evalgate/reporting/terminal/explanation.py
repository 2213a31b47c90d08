"""Explains one scenario in a terminal: its trials, checks, golden, and how its trajectory differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.run.golden import DIMENSIONS
from evalgate.reporting.markdown.golden_rows import draw_bar
from evalgate.reporting.terminal.difference import add_trajectory_diff
from evalgate.reporting.terminal.explained_trials import TrialTexts, add_trials, to_words
from evalgate.reporting.terminal.terminal_page import VERDICT_COLOURS, TerminalPage
from evalgate.reporting.text import wording
from evalgate.reporting.text.behaviour_lines import (
    PromptDiff,
    describe_baseline_side,
    describe_differences,
    describe_example,
    find_example,
    find_prompt_diff,
    find_shown_change,
    list_unasked,
)
from evalgate.reporting.text.grouping import describe_failures
from evalgate.reporting.text.ruling_lines import (
    find_flaky,
    find_quarantines,
    format_flaky,
    sort_approvals,
    summarize_approval,
    summarize_quarantine,
)
from evalgate.reporting.text.scenario_sections import (
    SuiteScenario,
    count_passed,
    describe_change,
    describe_checks,
    describe_pass_rule,
    is_certain,
)
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.scoring.golden.rules import level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.results.baseline_run import TracePosition
    from evalgate.models.results.results import ChangeDoc, RemovedDoc, ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.results.results_statistics import GoldenDoc
    from evalgate.models.run.trial_doc import IssueDoc
    from evalgate.models.trace.trace import Trace


MAX_ISSUES = 20
LABEL_WIDTH = 24
_COLOURS = {"critical": "red", "error": "red", "warning": "yellow"}


def add_golden(page: TerminalPage, scenario: ScenarioDoc) -> None:
    """Adds a golden's dimensions over its trials, then its issues; nothing if it is no golden."""
    golden = scenario.get("golden")
    if golden is None:
        return
    page.add_title(f"Golden conversation (version {golden['version']})")
    if golden["title"]:
        page.add_text(golden["title"], indent=2)
    if golden["level"]:
        status = f", {golden['regression_status']}" if golden["regression_status"] else ""
        page.add_text(f"{golden['level']}{status}", indent=2)
    for name in DIMENSIONS:
        if name in (scenario["dimensions"] or {}):
            page.add_text(_format_dimension(name, (scenario["dimensions"] or {})[name], golden), indent=2)
    for issue in golden["issues"][:MAX_ISSUES]:
        page.add_labelled(issue["severity"], _format_issue(issue), _COLOURS.get(issue["severity"], "dim"), indent=2)
    left = len(golden["issues"]) - MAX_ISSUES
    if left > 0:
        page.add_text(f"and {wording.pluralize(left, 'more issue')}", indent=2)


def _format_dimension(name: str, score: float | None, golden: GoldenDoc) -> str:
    """Formats a dimension: `tool success rate  ##--- 0.50 poor (-0.50, turn 2)`."""
    label = name.replace("_", " ").ljust(LABEL_WIDTH)
    if score is None:
        return f"{label}not evaluable{_format_move(name, golden)}"
    return f"{label}{draw_bar(score)} {wording.score(score)} {level(score)}{_format_move(name, golden)}"


def _format_move(name: str, golden: GoldenDoc) -> str:
    move = next((each for each in golden["moves"] if each["dimension"] == name), None)
    if move is None:
        return ""
    turn = "" if move["turn"] is None else f", turn {move['turn'] + 1}"
    if move["delta"] is None:
        return f" (was {wording.score(move['before'])})"
    return f" ({wording.points(move['delta'])}{turn})"


def _format_issue(issue: IssueDoc) -> str:
    turn = "" if issue["turn"] is None else f"turn {issue['turn'] + 1}: "
    evidence = f" ({issue['evidence']})" if issue["evidence"] else ""
    return f"{turn}{issue['message']}{evidence}"


MAX_REASONS = 5
SHORT_PROMPT = 15
"""Lines of a changed prompt without `full`."""
SHORT_SHA = 7
_MIN_TRIALS = 2


def render_explanation(
    document: ResultsDoc,
    explained: SuiteScenario,
    traces: Mapping[TracePosition, Trace] | None = None,
    *,
    width: int = 100,
    colour: bool = False,
    full: bool = False,
) -> str:
    """Renders plain text without a trailing line feed; `colour` adds EvalGate's colour codes only.

    Without `full` what passed, repeats or did not change is counted, so that one failure takes about 40 lines.
    Of trials whose `traces` are given, by their places, it says where the arguments came from.
    """
    suite, scenario = explained.suite, explained.scenario
    page = TerminalPage(width, colour=colour)
    _add_overview(page, document, explained, with_statistics=full or not is_certain(scenario))
    change = scenario["change"]
    if (diff := find_prompt_diff(document, scenario)) is not None:
        _add_prompt(page, diff if full else diff.cut(SHORT_PROMPT))
    shown_change = change if change is not None and "behaviour" in change else find_shown_change(scenario)
    if shown_change is not None:
        add_trajectory_diff(page, shown_change, full=full)
        if side := describe_baseline_side(scenario):
            page.add_text(unmark_parts(side), indent=2)
    if scenario.get("golden") is not None:
        add_golden(page, scenario)
    compared = change.get("behaviour") if change else None
    is_answered = find_example(scenario) is not None or bool(compared and compared.response)
    shown = TrialTexts(_list_reasons(suite, scenario), traces or {}, not is_answered)
    add_trials(page, suite, scenario, shown, full=full)
    page.add_title("To reproduce the run")
    page.add_command(document.get("command") or "evalgate run", indent=2)
    return str(page)


def _add_prompt(page: TerminalPage, diff: PromptDiff) -> None:
    page.add_title(diff.title.replace("\u2212", "-"))
    for sign, text in diff.lines:
        page.add_diff_line(sign, text, indent=2)
    if diff.more:
        page.add_text(diff.more, indent=2)


def render_removed_scenario(removed: RemovedDoc, *, width: int = 100, colour: bool = False) -> str:
    """Explains a scenario that only the baseline has."""
    page = TerminalPage(width, colour=colour)
    page.add_heading("REMOVED", _scenario_name(removed), "yellow")
    page.add_fact("suite", removed["suite"])
    was = f"{to_words(removed['verdict'])}, score {wording.score(removed['score'])}"
    page.add_fact("why", f"only in the baseline ({was}): no suite of this run contains it")
    return str(page)


def _scenario_name(scenario: ScenarioDoc | RemovedDoc) -> str:
    return wording.scenario_name(scenario["id"], scenario["variant"])


def _add_overview(page: TerminalPage, document: ResultsDoc, explained: SuiteScenario, *, with_statistics: bool) -> None:
    suite, scenario = explained.suite, explained.scenario
    verdict, change = scenario["verdict"], scenario["change"]
    page.add_heading(to_words(verdict), _scenario_name(scenario), VERDICT_COLOURS.get(verdict, "red"))
    location = scenario["location"]
    page.add_fact("suite", f"{suite['suite']} ({wording.location(location)})" if location else suite["suite"])
    for number, reason in enumerate(_list_reasons(suite, scenario)):
        page.add_fact("" if number else "why", reason)
    page.add_fact("score", _format_score(scenario))
    if scenario["n"] > 1 or (scenario["n"] and scenario.get("not_measured")):
        page.add_fact("trials", _format_pass_rate(scenario, with_interval=with_statistics))
    _add_background(page, document, suite, scenario)
    if change is None:
        page.add_fact("change", "not compared; `--baseline PATH` compares it with an earlier run")
        return
    flags = f" ({', '.join(map(to_words, explained.flags))})" if explained.flags else ""
    page.add_fact("change", f"{to_words(explained.shown_kind)}{flags}: {describe_change(scenario)}")
    if change["kind"] == "new" and verdict == "PASS":
        _add_example(page, scenario)
    cause = change.get("cause")
    if cause:
        page.add_fact("cause", cause.message)
    _add_acts(page, scenario, change)
    for increase in change["increases"]:
        page.add_fact("", increase)
    page.add_fact("since", _describe_baseline(document, change))
    if with_statistics:
        _add_significance(page, scenario, change)


def _add_example(page: TerminalPage, scenario: ScenarioDoc) -> None:
    """Adds how a new scenario is checked, and what the agent did in one trial of it."""
    example = describe_example(scenario)
    facts = ("", describe_checks(scenario)), ("asked", example.request), ("calls", example.calls)
    for name, text in (*facts, ("answer", example.answer)):
        if text:
            page.add_fact(name, unmark_parts(text))


def _add_acts(page: TerminalPage, scenario: ScenarioDoc, change: ChangeDoc) -> None:
    """Adds what differs from the baseline, unless that is shown below, and what is not as the user asked."""
    is_shown_below = "behaviour" in change and scenario["verdict"] != "PASS"
    unasked = list_unasked(scenario)
    ending = ["if that is right, add a check that names the value: it ends this line"] if unasked else []
    for label, sentences in (
        ("differs", [] if is_shown_below else describe_differences(scenario)),
        ("asked", [*unasked, *ending]),
    ):
        for number, sentence in enumerate(sentences):
            page.add_fact("" if number else label, unmark_parts(sentence))


def _add_background(page: TerminalPage, document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> None:
    """Adds stale traces, flakiness, quarantines and approvals of the scenario."""
    stale_reasons = [why for trial in scenario["trials"] if (why := trial.trace.stale)]
    if stale_reasons:
        others = f" (and {len(stale_reasons) - 1} more)" if len(stale_reasons) > 1 else ""
        page.add_fact("stale", f"{stale_reasons[0]}{others}")
    key = suite["suite"], scenario["id"], scenario["variant"]
    for flaky in find_flaky(document):
        if (flaky["suite"], flaky["scenario"], flaky["variant"]) == key:
            page.add_fact("history", format_flaky(flaky))
    for quarantine in find_quarantines(document, suite["suite"], scenario):
        page.add_fact("quarantine", summarize_quarantine(quarantine))
    for approval in sort_approvals(document):
        if (approval["suite"], approval["scenario"], approval["variant"]) == key:
            page.add_fact("approval", summarize_approval(approval))


def _list_reasons(suite: SuiteDoc, scenario: ScenarioDoc) -> list[str]:
    """Lists the worst failures; of a scenario without any that every check passed."""
    causes = list(map(unmark_parts, describe_failures(SuiteScenario(suite, scenario))))
    if not causes:
        return [
            unmark_parts(scenario["reason"] or "")
            or ("every check passed" if scenario["trials"] else "no trace was found")
        ]
    left = len(causes) - MAX_REASONS
    return [*causes[:MAX_REASONS], *([f"and {left:,} more"] if left > 0 else [])]


def _format_score(scenario: ScenarioDoc) -> str:
    change = scenario["change"]
    moved = wording.points(change["score_delta"], scenario["score"]) if change else ""
    since = f", {moved} since the baseline" if moved else ""
    return f"{wording.score(scenario['score'])}{since}; threshold {wording.score(scenario['threshold'])}"


def _format_pass_rate(scenario: ScenarioDoc, *, with_interval: bool) -> str:
    passed = count_passed(scenario)
    interval = scenario["pass_rate_interval"]
    between = ""
    if interval and with_interval:
        low, high = map(wording.percent, interval)
        between = f"; the true rate is between {low} and {high}, with 95% confidence"
    unmeasured = scenario.get("not_measured", 0)
    rule = f", {each}" if (each := describe_pass_rule(scenario)) else ""
    return f"{passed} of {scenario['n']} passed{rule}{f', {unmeasured} not measured' if unmeasured else ''}{between}"


def _describe_baseline(document: ResultsDoc, change: ChangeDoc) -> str:
    baseline = document["baseline"]
    baseline_verdict = to_words(change["previous_verdict"]) if change["previous_verdict"] else "absent"
    if baseline is None:
        return f"the baseline, in which it was {baseline_verdict}"
    name = baseline["sha"][:SHORT_SHA] if baseline["sha"] else baseline["path"] or "an unknown commit"
    facts = [to_words(baseline["status"])]
    if baseline["age_seconds"] is not None:
        facts.append(wording.age(baseline["age_seconds"]))
    return f"the baseline {name} ({', '.join(facts)}), in which it was {baseline_verdict}"


def _add_significance(page: TerminalPage, scenario: ScenarioDoc, change: ChangeDoc) -> None:
    """Explains in words what the p-value of the change means."""
    p, corrected = change["p_value"], change.get("p_corrected")
    if p is not None:
        page.add_fact(
            "chance",
            f"a change at least this large would occur by chance in {wording.percent(p)} of runs "
            f"({_name_test(change)}p {p:.3g})",
        )
    if corrected is not None:
        page.add_fact("", f"p {corrected:.3g} after correction for the number of scenarios")
    if "few_trials" in change["flags"]:
        page.add_fact("", "all passed on one side and none on the other, so it counts all the same")
    if "single_trial" in change["flags"]:
        page.add_fact("chance", "single trial: may be noise; record several trials")
    elif p is None and scenario["n"] < _MIN_TRIALS and change["kind"] not in ("unchanged", "new"):
        page.add_fact("chance", "not tested for significance")


def _name_test(change: ChangeDoc) -> str:
    test = change.get("test")
    return f"{to_words(test)}'s test, " if test else ""
