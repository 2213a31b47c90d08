"""How two traces of a scenario differ, turn by turn, for a terminal."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from evalgate.measures.sequences.differences import diff_lists
from evalgate.measures.values.json_values import shorten
from evalgate.reporting.text import wording
from evalgate.reporting.text.trajectory_lines import (
    NOTHING,
    describe_divergence,
    find_moved_calls,
    mark_changes,
    name_status,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.comparison import CallsDiff
    from evalgate.models.comparison.trajectory import CallStep, FigureDelta, TrajectoryDiff
    from evalgate.models.results.results import ChangeDoc
    from evalgate.reporting.terminal.terminal_page import TerminalPage

MAX_ARGUMENTS, MAX_ANSWER, MAX_KEPT = 200, 4_000, 200
MAX_NAMES = 1_000
MANY = 10_000
ALL = "`evalgate explain --all`"
SHORT_ANSWER, SHORT_CALLS, SHORT_CHANGES, SHORT_TEXT = 400, 8, 3, 160
"""Limits without `full`: characters of the answer, calls, changed arguments of a call, and characters of a value."""
FEW = 3
"""Unchanged calls in a row from which they are counted, without `full`."""
_SIGNS = {"removed": "-", "added": "+", "changed": "~"}
_LIST_SIGNS = {"kept": "", "gone": "-", "come": "+"}
_FIGURES: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "score": ("score", wording.score),
    "cost_usd": ("cost", wording.dollars),
    "latency_seconds": ("latency", wording.seconds),
    "total_tokens": ("tokens", wording.mean_count),
}


def add_trajectory_diff(page: TerminalPage, change: ChangeDoc, *, full: bool) -> None:
    """Adds how the two traces differ; some documents have only the names of the calls.

    Without `full` unchanged calls are counted, and only the first changes are shown.
    """
    trajectory_diff, calls = change.get("behaviour"), change.get("calls")
    if trajectory_diff is not None:
        _add_diff(page, trajectory_diff, full=full)
    elif calls is not None:
        _add_call_names(page, calls, full=full)


def _add_diff(page: TerminalPage, trajectory_diff: TrajectoryDiff, *, full: bool) -> None:
    page.add_title(_format_title(trajectory_diff.trial_before, trajectory_diff.trial))
    divergence = describe_divergence(trajectory_diff)
    if not divergence:
        page.add_text("the agent's calls and answer are unchanged", indent=2)
    else:
        page.add_text(f"the first difference is {divergence}", indent=2)
    _add_turns(page, trajectory_diff, full=full)
    if trajectory_diff.response:
        page.add_text("final answer, [-in the baseline-] and {+now+}:", indent=2)
        page.add_text(
            mark_changes(trajectory_diff.response, MAX_KEPT), indent=4, limit=MAX_ANSWER if full else SHORT_ANSWER
        )
    for name, sides in (("status", trajectory_diff.status), ("error", trajectory_diff.error)):
        if sides:
            page.add_text(f"{name}: {sides.baseline or NOTHING} -> {sides.current or NOTHING}", indent=2)
    figures = [text for figure in trajectory_diff.figures if (text := _format_figure(figure))]
    if figures:
        page.add_text(", ".join(figures), indent=2)


def _format_title(baseline_trial: int, trial: int) -> str:
    return f"Difference from the baseline (trial {baseline_trial} there, trial {trial} here)"


def _add_turns(page: TerminalPage, trajectory_diff: TrajectoryDiff, *, full: bool) -> None:
    """Adds the turns in which something differs, or all of them if `full`, with at most some of their calls."""
    utterances, moved = trajectory_diff.utterances, find_moved_calls(trajectory_diff.steps)
    turns: dict[int, list[CallStep]] = {utterance.turn: [] for utterance in utterances}
    for step in trajectory_diff.steps:
        position = step.current or step.baseline
        turns.setdefault(position.turn if position else 0, []).append(step)
    room, hidden, has_begun = MANY if full else SHORT_CALLS, trajectory_diff.steps_left, full
    for turn, steps in sorted(turns.items()):
        changed = [each for each in utterances if each.turn == turn]
        if not full and not changed and not any(map(_find_sign, steps)):
            continue
        has_begun = True
        page.add_text(f"turn {turn}", indent=2)
        for utterance in changed:
            sides = f"{utterance.baseline or NOTHING} -> {utterance.current or NOTHING}"
            page.add_diff_line("~", _shorten(f"{utterance.who}: {sides}", full=full), indent=4)
        for run in _list_runs(steps, full=full):
            if room <= 0:
                hidden += len(run)
            elif len(run) >= FEW:
                page.add_diff_line("", f"... {len(run):,} unchanged calls", indent=4)
                room -= 1
            else:
                hidden += len(run[room:])
                for step in run[:room]:
                    _add_step(page, step, moved, full=full)
                room -= len(run)
    if hidden and has_begun:
        remedy = "" if full else f" ({ALL} shows them)"
        page.add_text(f"and {wording.pluralize(hidden, 'more call')}{remedy}", indent=2)


def _list_runs(steps: Sequence[CallStep], *, full: bool) -> Iterator[list[CallStep]]:
    """The calls one by one, but unchanged ones in a row together unless `full`."""
    for is_changed, run in groupby(steps, key=lambda step: bool(_find_sign(step))):
        if full or is_changed:
            yield from ([step] for step in run)
        else:
            yield list(run)


def _find_sign(step: CallStep) -> str:
    return _SIGNS.get(step.kind, "~" if step.outcome or step.answer else "")


def _shorten(text: str, *, full: bool) -> str:
    return text if full else shorten(text, SHORT_TEXT)


def _add_step(page: TerminalPage, step: CallStep, moved: Mapping[int, int], *, full: bool) -> None:
    """Adds a call; `moved` has the numbers in this run of calls that it makes at another place, by those there."""
    outcome, answer = step.outcome, step.answer
    sign = _SIGNS.get(step.kind, "~" if outcome else "")
    position = step.current or step.baseline
    number = position.call if position else 0
    arguments = "" if step.changes else f" {step.arguments[: MAX_ARGUMENTS if full else SHORT_TEXT]}"
    page.add_diff_line(sign, f"{number} {step.name}{arguments}", indent=4)
    if step.kind == "removed" and number in moved:
        page.add_text(f"made at another place: call {moved[number]} now", indent=10)
    elif step.kind == "added" and step.baseline:
        page.add_text(f"made at another place: call {step.baseline.call} of the baseline", indent=10)
    shown = step.changes if full else step.changes[:SHORT_CHANGES]
    for change in shown:
        baseline, current = change.baseline, change.current
        values = f"{NOTHING if baseline is None else baseline} -> {NOTHING if current is None else current}"
        page.add_diff_line(sign, _shorten(f"{change.path or 'arguments'}: {values}", full=full), indent=8)
    left = step.changes_left + len(step.changes) - len(shown)
    if left:
        page.add_text(f"and {wording.pluralize(left, 'more place')}", indent=10)
    for name, sides, word in (("ended", outcome, name_status), ("answered", answer, str)):
        if sides:
            both = (step.baseline, sides.baseline), (step.current, sides.current)
            known = [word(text) if text else NOTHING for place, text in both if place is not None]
            page.add_text(_shorten(f"{name}: {' -> '.join(known)}", full=full), indent=10)


def _format_figure(figure: FigureDelta) -> str:
    if figure.baseline == figure.current or figure.name not in _FIGURES:
        return ""
    name, format_value = _FIGURES[figure.name]
    return f"{name} {format_value(figure.baseline)} -> {format_value(figure.current)}"


def _add_call_names(page: TerminalPage, calls: CallsDiff, *, full: bool) -> None:
    baseline, current = calls.baseline[:MAX_NAMES], calls.current[:MAX_NAMES]
    page.add_title(_format_title(calls.trial_before, calls.trial))
    if baseline == current:
        page.add_text(f"the same {wording.pluralize(len(current), 'call')}; only their names were compared", indent=2)
        return
    lines: list[tuple[str, str]] = []
    for kind, run in groupby(diff_lists(baseline, current), key=lambda step: step.kind):
        names = [step.name for step in run]
        if kind == "kept" and len(names) >= FEW and not full:
            names = [f"... {len(names):,} unchanged calls"]
        lines += [(_LIST_SIGNS[kind], name) for name in names]
    shown = lines if full else lines[: 2 * SHORT_CALLS]
    for sign, name in shown:
        page.add_diff_line(sign, name, indent=2)
    if len(lines) > len(shown):
        page.add_text(f"and {wording.pluralize(len(lines) - len(shown), 'more line')}", indent=2)
