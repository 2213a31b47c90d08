"""The trajectory diff against the baseline, turn by turn, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.sequences.list_difference import diff_lists
from evalgate.reporting.text import wording
from evalgate.reporting.text.trajectory_lines import NOTHING, describe_divergence, mark_changes

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.results.results import CallsDoc, ChangeDoc
    from evalgate.models.results.results_trajectory import CallStepDoc, FigureDeltaDoc, TextPairDoc, TrajectoryDiffDoc
    from evalgate.reporting.terminal.terminal_page import TerminalPage

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
