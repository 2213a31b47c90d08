"""The trajectory diff of a scenario, small enough for a comment."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from evalgate.measures.sequences.list_difference import difference
from evalgate.reporting.text.escaping import diff, span
from evalgate.reporting.text.trajectory_lines import DiffLine, calls_in_brief, departure, in_a_row, one_side
from evalgate.reporting.text.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import CallsDoc, ChangeDoc
    from evalgate.models.results.results_trajectory import BehaviourDoc

MOST_CALLS = 1_000
MOST_LINES = 14
AROUND = 1
"""Unchanged calls shown on either side of a change."""
NEAR = 40
"""Characters of a final answer shown on either side of a change."""
ANSWER = 300
_SIGNS = {"kept": "", "gone": "-", "come": "+"}


def behaviour(change: ChangeDoc | None) -> str:
    """Formats how the agent's trajectory differs from the baseline, as escaped Markdown; may be empty."""
    found = change.get("behaviour") if change else None
    if found is not None:
        return "\n\n".join(part for part in (_calls(found), _answer(found), _ending(found)) if part)
    calls = change.get("calls") if change else None
    return _names(calls) if calls else ""


def _calls(found: BehaviourDoc) -> str:
    """Formats the calls, with the changes of their arguments."""
    steps = found["steps"]
    if not steps:
        return ""
    groups = calls_in_brief(steps)
    if not any(line.sign for group in groups for line in group):
        number = counted(len(steps) + found["steps_left"], "call")
        return f"Tool calls: the same as in the baseline, with the same arguments ({number})."
    where = departure(found)
    return _block(groups, f"; the first difference is {where}" if where else "")


def _names(calls: CallsDoc) -> str:
    """Formats the calls by name only, if the traces are not available."""
    before, now = calls["before"][:MOST_CALLS], calls["now"][:MOST_CALLS]
    if not before + now:
        return ""
    if before == now:
        return f"Tool calls: the same as in the baseline ({counted(len(now), 'call')})."
    runs = groupby(difference(before, now), key=lambda step: step.kind)
    return _block([in_a_row(_SIGNS[kind], [step.name for step in run]) for kind, run in runs])


def _block(groups: Sequence[Sequence[DiffLine]], where: str = "") -> str:
    """Formats the groups as one fenced block; long runs of unchanged calls are counted."""
    lines: list[DiffLine] = []
    for index, group in enumerate(groups):
        is_kept = not any(line.sign for line in group)
        lines += _abridged(group, is_first=index == 0, is_last=index + 1 == len(groups)) if is_kept else group
    left = len(lines) - MOST_LINES
    shown = (
        lines
        if left <= 0
        else [*lines[:MOST_LINES], DiffLine("", f"\u2026 and {counted(left, 'more line')}")]
    )
    return f"Tool calls, in the baseline (\u2212) and now (+){where}:\n\n{diff(shown)}"


def _abridged(told: Sequence[DiffLine], *, is_first: bool, is_last: bool) -> Sequence[DiffLine]:
    head, tail = 0 if is_first else AROUND, 0 if is_last else AROUND
    hidden = len(told) - head - tail
    if hidden <= 1:
        return told
    return [*told[:head], DiffLine("", f"\u2026 {hidden} as before"), *told[len(told) - tail :]]


def _answer(found: BehaviourDoc) -> str:
    parts = found["response"]
    if not parts:
        return ""
    sides = [DiffLine("-", one_side(parts, "come", NEAR)), DiffLine("+", one_side(parts, "gone", NEAR))]
    told = [line for line in sides if line.text.strip()]
    return f"Final answer, in the baseline (\u2212) and now (+):\n\n{diff(told, ANSWER)}"


def _ending(found: BehaviourDoc) -> str:
    """Formats how the traces ended, if that differs."""
    error = found.get("error")
    if error and error["now"]:
        return f"The recording ends in an error: {span(error['now'])}"
    status = found.get("status")
    if not status:
        return ""
    before, now = span(status["before"] or ""), span(status["now"] or "")
    return f"The recording ends otherwise: {before} before, {now} now."
