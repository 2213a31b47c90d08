"""The trajectory diff of a scenario, small enough for a comment."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from evalgate.measures.sequences.list_difference import diff_lists
from evalgate.reporting.text.escaping import escape_diff, escape_span
from evalgate.reporting.text.trajectory_lines import (
    DiffLine,
    describe_divergence,
    extract_side,
    merge_equal_lines,
    summarize_calls,
)
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import CallsDoc, ChangeDoc
    from evalgate.models.results.results_trajectory import TrajectoryDiffDoc

MAX_CALLS = 1_000
MAX_LINES = 14
CONTEXT_CALLS = 1
"""Unchanged calls shown on either side of a change."""
CONTEXT = 40
"""Characters of a final answer shown on either side of a change."""
MAX_ANSWER = 300
_SIGNS = {"kept": "", "gone": "-", "come": "+"}


def format_trajectory_diff(change: ChangeDoc | None) -> str:
    """Formats how the agent's trajectory differs from the baseline, as escaped Markdown; may be empty."""
    found = change.get("behaviour") if change else None
    if found is not None:
        return "\n\n".join(
            part for part in (_format_calls(found), _format_answer(found), _format_ending(found)) if part
        )
    calls = change.get("calls") if change else None
    return _format_names(calls) if calls else ""


def _format_calls(found: TrajectoryDiffDoc) -> str:
    """Formats the calls, with the changes of their arguments."""
    steps = found["steps"]
    if not steps:
        return ""
    groups = summarize_calls(steps)
    if not any(line.sign for group in groups for line in group):
        number = pluralize(len(steps) + found["steps_left"], "call")
        return f"Tool calls: the same as in the baseline, with the same arguments ({number})."
    divergence = describe_divergence(found)
    return _format_block(groups, f"; the first difference is {divergence}" if divergence else "")


def _format_names(calls: CallsDoc) -> str:
    """Formats the calls by name only, if the traces are not available."""
    baseline, current = calls["before"][:MAX_CALLS], calls["now"][:MAX_CALLS]
    if not baseline + current:
        return ""
    if baseline == current:
        return f"Tool calls: the same as in the baseline ({pluralize(len(current), 'call')})."
    runs = groupby(diff_lists(baseline, current), key=lambda step: step.kind)
    return _format_block([merge_equal_lines(_SIGNS[kind], [step.name for step in run]) for kind, run in runs])


def _format_block(groups: Sequence[Sequence[DiffLine]], note: str = "") -> str:
    """Formats the groups as one fenced block; long runs of unchanged calls are counted."""
    lines: list[DiffLine] = []
    for index, group in enumerate(groups):
        is_kept = not any(line.sign for line in group)
        lines += _abridge(group, is_first=index == 0, is_last=index + 1 == len(groups)) if is_kept else group
    hidden = len(lines) - MAX_LINES
    shown = (
        lines
        if hidden <= 0
        else [*lines[:MAX_LINES], DiffLine("", f"\u2026 and {pluralize(hidden, 'more line')}")]
    )
    return f"Tool calls, in the baseline (\u2212) and now (+){note}:\n\n{escape_diff(shown)}"


def _abridge(lines: Sequence[DiffLine], *, is_first: bool, is_last: bool) -> Sequence[DiffLine]:
    head, tail = 0 if is_first else CONTEXT_CALLS, 0 if is_last else CONTEXT_CALLS
    hidden = len(lines) - head - tail
    if hidden <= 1:
        return lines
    return [*lines[:head], DiffLine("", f"\u2026 {hidden} as before"), *lines[len(lines) - tail :]]


def _format_answer(found: TrajectoryDiffDoc) -> str:
    parts = found["response"]
    if not parts:
        return ""
    sides = [
        DiffLine("-", extract_side(parts, "come", CONTEXT)),
        DiffLine("+", extract_side(parts, "gone", CONTEXT)),
    ]
    lines = [line for line in sides if line.text.strip()]
    return f"Final answer, in the baseline (\u2212) and now (+):\n\n{escape_diff(lines, MAX_ANSWER)}"


def _format_ending(found: TrajectoryDiffDoc) -> str:
    """Formats how the traces ended, if that differs."""
    error = found.get("error")
    if error and error["now"]:
        return f"The recording ends in an error: {escape_span(error['now'])}"
    status = found.get("status")
    if not status:
        return ""
    baseline, current = escape_span(status["before"] or ""), escape_span(status["now"] or "")
    return f"The recording ends otherwise: {baseline} before, {current} now."
