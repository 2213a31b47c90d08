"""Explains one scenario in a terminal: its trials, checks, golden, and how its trajectory differs."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

from evalgate.measures.sequences.differences import diff_lists
from evalgate.models.run.golden import DIMENSIONS
from evalgate.models.trace.trace import format_place
from evalgate.reporting.markdown.golden_rows import draw_bar
from evalgate.reporting.terminal.terminal_page import VERDICT_COLOURS, TerminalPage
from evalgate.reporting.text import wording
from evalgate.reporting.text.grouping import describe_failures
from evalgate.reporting.text.ruling_lines import (
    find_flaky,
    find_quarantines,
    format_flaky,
    sort_approvals,
    summarize_approval,
    summarize_quarantine,
)
from evalgate.reporting.text.scenario_sections import SuiteScenario, count_passed, describe_change
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.reporting.text.trajectory_lines import NOTHING, describe_divergence, mark_changes
from evalgate.scoring.golden.rules import level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.results.results import (
        AssertionDoc,
        CallsDoc,
        ChangeDoc,
        RemovedDoc,
        ResultsDoc,
        ScenarioDoc,
        SuiteDoc,
        TrialDoc,
    )
    from evalgate.models.results.results_sections import CallStepDoc, FigureDeltaDoc, TextPairDoc, TrajectoryDiffDoc
    from evalgate.models.results.results_statistics import GoldenDoc, IssueDoc


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


MAX_ARGUMENTS, MAX_ANSWER, MAX_KEPT = 200, 4_000, 200
MAX_NAMES = 1_000
_SIGNS = {"removed": "-", "added": "+", "changed": "~"}
_LIST_SIGNS = {"kept": "", "gone": "-", "come": "+"}
_FIGURES: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "score": ("score", wording.score),
    "cost_usd": ("cost", wording.dollars),
    "latency_seconds": ("latency", wording.seconds),
    "total_tokens": ("tokens", wording.mean_count),
}


def add_trajectory_diff(page: TerminalPage, change: ChangeDoc) -> None:
    """Adds how the two traces differ; some documents have only the names of the calls."""
    trajectory_diff, calls = change.get("behaviour"), change.get("calls")
    if trajectory_diff is not None:
        _add_diff(page, trajectory_diff)
    elif calls is not None:
        _add_call_names(page, calls)


def _add_diff(page: TerminalPage, trajectory_diff: TrajectoryDiffDoc) -> None:
    page.add_title(_format_title(trajectory_diff["trial_before"], trajectory_diff["trial"]))
    divergence = describe_divergence(trajectory_diff)
    if not divergence:
        page.add_text("the agent's behaviour is unchanged", indent=2)
    else:
        page.add_text(f"the first difference is {divergence}", indent=2)
    _add_turns(page, trajectory_diff)
    if trajectory_diff["response"]:
        page.add_text("final answer, [-in the baseline-] and {+now+}:", indent=2)
        page.add_text(mark_changes(trajectory_diff["response"], MAX_KEPT), indent=4, limit=MAX_ANSWER)
    for name in ("status", "error"):
        sides: TextPairDoc | None = trajectory_diff.get(name)  # type: ignore[assignment]
        if sides:
            page.add_text(f"{name}: {sides['before'] or NOTHING} -> {sides['now'] or NOTHING}", indent=2)
    figures = [text for figure in trajectory_diff["figures"] if (text := _format_figure(figure))]
    if figures:
        page.add_text(", ".join(figures), indent=2)


def _format_title(baseline_trial: int, trial: int) -> str:
    return f"Difference from the baseline (trial {baseline_trial} there, trial {trial} here)"


def _add_turns(page: TerminalPage, trajectory_diff: TrajectoryDiffDoc) -> None:
    utterances = trajectory_diff["said"]
    turns: dict[int, list[CallStepDoc]] = {utterance["turn"]: [] for utterance in utterances}
    for step in trajectory_diff["steps"]:
        position = step["now"] or step["before"]
        turns.setdefault(position["turn"] if position else 0, []).append(step)
    for turn in sorted(turns):
        page.add_text(f"turn {turn}", indent=2)
        for utterance in utterances:
            if utterance["turn"] == turn:
                page.add_diff_line(
                    "~",
                    f"{utterance['who']}: {utterance['before'] or NOTHING} -> {utterance['now'] or NOTHING}",
                    indent=4,
                )
        for step in turns[turn]:
            _add_step(page, step)
    if trajectory_diff["steps_left"]:
        page.add_text(f"and {wording.pluralize(trajectory_diff['steps_left'], 'more call')}", indent=2)


def _add_step(page: TerminalPage, step: CallStepDoc) -> None:
    outcome, answer = step.get("outcome"), step.get("answer")
    sign = _SIGNS.get(step["kind"], "~" if outcome else "")
    number = (step["now"] or step["before"] or {"call": 0})["call"]
    arguments = "" if step["changes"] else f" {step['arguments'][:MAX_ARGUMENTS]}"
    page.add_diff_line(sign, f"{number} {step['name']}{arguments}", indent=4)
    for change in step["changes"]:
        baseline, current = change["before"], change["now"]
        values = f"{NOTHING if baseline is None else baseline} -> {NOTHING if current is None else current}"
        page.add_diff_line(sign, f"{change['path'] or 'arguments'}: {values}", indent=8)
    if step["changes_left"]:
        page.add_text(f"and {wording.pluralize(step['changes_left'], 'more place')}", indent=10)
    for name, sides in (("ended", outcome), ("answered", answer)):
        if sides:
            page.add_text(f"{name}: {sides['before'] or NOTHING} -> {sides['now'] or NOTHING}", indent=10)


def _format_figure(figure: FigureDeltaDoc) -> str:
    if figure["before"] == figure["now"] or figure["name"] not in _FIGURES:
        return ""
    name, format_value = _FIGURES[figure["name"]]
    return f"{name} {format_value(figure['before'])} -> {format_value(figure['now'])}"


def _add_call_names(page: TerminalPage, calls: CallsDoc) -> None:
    baseline, current = calls["before"][:MAX_NAMES], calls["now"][:MAX_NAMES]
    page.add_title(_format_title(calls["trial_before"], calls["trial"]))
    if baseline == current:
        page.add_text(f"the same {wording.pluralize(len(current), 'call')}; only their names were compared", indent=2)
        return
    for step in diff_lists(baseline, current):
        page.add_diff_line(_LIST_SIGNS[step.kind], step.name, indent=2)


MAX_TRIALS, MAX_CHECKS, MAX_EVIDENCE = 50, 200, 1_500
MAX_REASONS = 5
SHORT_SHA = 7
_MIN_TRIALS = 2
_STATUS_COLOURS = {"passed": "green", "not_evaluable": "yellow", "not_measured": "yellow", "skipped": "dim"}
_NOT_FAILED = frozenset({"passed", "skipped"})
CUSTOM = "custom"
_REDUNDANT_EVIDENCE = frozenset({"verdict"})  # evidence that only repeats the outcome


def render_explanation(
    document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc, *, width: int = 100, colour: bool = False
) -> str:
    """Renders plain text without a trailing line feed; `colour` adds EvalGate's colour codes only."""
    page = TerminalPage(width, colour=colour)
    _add_overview(page, document, suite, scenario)
    change = scenario["change"]
    if change is not None:
        add_trajectory_diff(page, change)
    if scenario.get("golden") is not None:
        add_golden(page, scenario)
    _add_trials(page, suite, scenario)
    page.add_title("To reproduce the run")
    page.add_text(document.get("command") or "evalgate run", indent=2)
    return str(page)


def render_removed_scenario(removed: RemovedDoc, *, width: int = 100, colour: bool = False) -> str:
    """Explains a scenario that only the baseline has."""
    page = TerminalPage(width, colour=colour)
    page.add_heading("REMOVED", _scenario_name(removed), "yellow")
    page.add_fact("suite", removed["suite"])
    was = f"{_to_words(removed['verdict'])}, score {wording.score(removed['score'])}"
    page.add_fact("why", f"only in the baseline ({was}): no suite of this run contains it")
    return str(page)


def _scenario_name(scenario: ScenarioDoc | RemovedDoc) -> str:
    return wording.scenario_name(scenario["id"], scenario["variant"])


def _to_words(word: str) -> str:
    return word.replace("_", " ")


def _add_overview(page: TerminalPage, document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> None:
    verdict, change = scenario["verdict"], scenario["change"]
    page.add_heading(_to_words(verdict), _scenario_name(scenario), VERDICT_COLOURS.get(verdict, "red"))
    location = scenario["location"]
    page.add_fact("suite", f"{suite['suite']} ({wording.location(location)})" if location else suite["suite"])
    for number, reason in enumerate(_list_reasons(suite, scenario)):
        page.add_fact("" if number else "why", reason)
    page.add_fact("score", _format_score(scenario))
    if scenario["n"] > 1 or (scenario["n"] and scenario.get("not_measured")):
        page.add_fact("trials", _format_pass_rate(scenario))
    _add_background(page, document, suite, scenario)
    if change is None:
        page.add_fact("change", "not compared; `--baseline PATH` compares it with an earlier run")
        return
    flags = f" ({', '.join(map(_to_words, change['flags']))})" if change["flags"] else ""
    page.add_fact("change", f"{_to_words(change['kind'])}{flags}: {describe_change(change)}")
    cause = change.get("cause")
    if cause:
        page.add_fact("cause", cause["message"])
    for increase in change["increases"]:
        page.add_fact("", increase)
    page.add_fact("since", _describe_baseline(document, change))
    _add_significance(page, scenario, change)


def _add_background(page: TerminalPage, document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> None:
    """Adds stale traces, flakiness, quarantines and approvals of the scenario."""
    stale_reasons = [why for trial in scenario["trials"] if (why := trial["trace"].get("stale"))]
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
    moved = wording.points(change["score_delta"]) if change else ""
    since = f", {moved} since the baseline" if moved else ""
    return f"{wording.score(scenario['score'])}{since}; threshold {wording.score(scenario['threshold'])}"


def _format_pass_rate(scenario: ScenarioDoc) -> str:
    passed = count_passed(scenario)
    interval = scenario["pass_rate_interval"]
    between = ""
    if interval:
        low, high = map(wording.percent, interval)
        between = f"; the true rate is between {low} and {high}, with 95% confidence"
    unmeasured = scenario.get("not_measured", 0)
    return f"{passed} of {scenario['n']} passed{f', {unmeasured} not measured' if unmeasured else ''}{between}"


def _describe_baseline(document: ResultsDoc, change: ChangeDoc) -> str:
    baseline = document["baseline"]
    baseline_verdict = _to_words(change["previous_verdict"]) if change["previous_verdict"] else "absent"
    if baseline is None:
        return f"the baseline, in which it was {baseline_verdict}"
    name = baseline["sha"][:SHORT_SHA] if baseline["sha"] else baseline["path"] or "an unknown commit"
    facts = [_to_words(baseline["status"])]
    if baseline["age_seconds"] is not None:
        facts.append(wording.age(baseline["age_seconds"]))
    return f"the baseline {name} ({', '.join(facts)}), in which it was {baseline_verdict}"


def _add_significance(page: TerminalPage, scenario: ScenarioDoc, change: ChangeDoc) -> None:
    """Explains in words what the p-value of the change means."""
    p, corrected = change["p_value"], change.get("p_corrected")
    if p is not None:
        page.add_fact(
            "chance", f"a change at least this large would occur by chance in {wording.percent(p)} of runs (p {p:.3g})"
        )
    if corrected is not None:
        page.add_fact("", f"p {corrected:.3g} after correction for the number of scenarios")
    if "single_trial" in change["flags"]:
        page.add_fact("chance", "single trial: may be noise; record several trials")
    elif p is None and scenario["n"] < _MIN_TRIALS and change["kind"] not in ("unchanged", "new"):
        page.add_fact("chance", "not tested for significance")


def _add_trials(page: TerminalPage, suite: SuiteDoc, scenario: ScenarioDoc) -> None:
    page.add_title("Trials" if scenario["trials"] else "No trials")
    checks_left = MAX_CHECKS
    trials = sorted(scenario["trials"], key=lambda trial: trial["status"] == "passed")
    for number, trial in enumerate(trials[:MAX_TRIALS]):
        if number and trial["status"] == "passed":
            _add_passed_trial(page, trial)
            continue
        _add_trial(page, trial)
        checks = sorted(trial["assertions"], key=lambda each: each["outcome"] in _NOT_FAILED)
        for check in checks[: max(checks_left, 0)]:
            _add_check(page, check)
        if len(checks) > max(checks_left, 0):
            page.add_text(f"and {wording.pluralize(len(checks) - max(checks_left, 0), 'more check')}", indent=4)
        checks_left -= len(checks)
        if trial["status"] != "passed":
            page.add_command(_build_show_command(suite, trial), indent=4)
    left = len(scenario["trials"]) - MAX_TRIALS
    if left > 0:
        page.add_text(f"and {wording.pluralize(left, 'more trial')}", indent=2)


def _add_passed_trial(page: TerminalPage, trial: TrialDoc) -> None:
    """Adds a line for a trial that passed, below one that is shown whole."""
    page.add_coloured(f"trial {trial['trial']}: passed ({_find_place(trial)})", "green", indent=2)


def _find_place(trial: TrialDoc) -> str:
    trace = trial["trace"]
    return format_place(trace["path"], trace["line"], trace["record"])


def _build_show_command(suite: SuiteDoc, trial: TrialDoc) -> str:
    """The command that prints the trace of a trial; a custom format needs the suite that describes it."""
    import shlex

    needed = ["--config", suite["path"]] if trial["trace"]["format"] == CUSTOM else []
    return shlex.join(["evalgate", "show", *needed, _find_place(trial)])


def _count_repeats(names: Sequence[str]) -> Iterator[str]:
    """The names in order, those in a row once with their number: `search x3`."""
    for name, repeated in groupby(names):
        count = sum(1 for _ in repeated)
        yield name if count == 1 else f"{name} x{count}"


def _add_trial(page: TerminalPage, trial: TrialDoc) -> None:
    page.add_coloured(
        f"trial {trial['trial']}: {_to_words(trial['status'])}", _STATUS_COLOURS.get(trial["status"], "red"), indent=2
    )
    where, form = _find_place(trial), trial["trace"]["format"]
    page.add_text(f"{where} ({form})" if form else where, indent=4)
    page.add_text(
        f"score {wording.score(trial['score'])}, cost {wording.dollars(trial['cost_usd'])}, latency"
        f" {wording.seconds(trial['latency_seconds'])}, tokens {wording.count(trial.get('total_tokens'))}",
        indent=4,
    )
    if trial["tool_calls"]:
        page.add_text(f"calls {', '.join(_count_repeats(trial['tool_calls']))}", indent=4)
    if trial["reason"]:
        page.add_text(unmark_parts(trial["reason"]), indent=4)


def _add_check(page: TerminalPage, check: AssertionDoc) -> None:
    required = " (required)" if check["required"] else ""
    weight = f", weight {check['weight']:g}" if check["weight"] != 1 else ""
    partial = f", score {wording.score(check['score'])}" if 0 < check["score"] < 1 else ""
    where = f" [{wording.location(check['location'])}]" if check["location"] else ""
    outcome, reason = check["outcome"], unmark_parts(check["reason"])
    reason_text = "" if reason == check["name"] else f": {reason}"
    text = f"{check['name']}{required}{weight}{partial}{reason_text}{where}"
    colour = _STATUS_COLOURS.get(outcome, "red")
    page.add_labelled(_to_words(outcome), text, colour, indent=4)
    evidence = check["evidence"]
    if evidence and outcome not in _NOT_FAILED:
        for name in sorted(evidence.keys() - _REDUNDANT_EVIDENCE):
            page.add_text(f"{name}: {json.dumps(evidence[name], ensure_ascii=False)}", indent=8, limit=MAX_EVIDENCE)
