"""Pairs the answers in a SWE-agent history with the steps of its trajectory, which may hold more or others."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

NEVER = 1 << 60
"""A distance larger than any other."""


class StepAlignment(NamedTuple):
    """For each answer the index of its step, or None; and the steps that come before an answer, by its index."""

    steps: list[int | None]
    before: dict[int, list[int]]


def align(answers: Sequence[str], steps: Sequence[str]) -> StepAlignment:
    """Pairs answers and steps with equal actions, in order; an answer without an action takes one that no other has.

    Where both go on differently, the side whose action the other side has sooner waits.
    """
    found: list[int | None] = []
    before: dict[int, list[int]] = {}
    in_answers, in_steps = _list_positions(answers), _list_positions(steps)
    position = 0
    while len(found) < len(answers):
        current = len(found)
        action = answers[current]
        step = steps[position] if position < len(steps) else None
        until_answer = NEVER if step is None else _find_distance(in_answers, step, current)
        if step is not None and (action == step or (not action and until_answer == NEVER)):
            found.append(position)
            position += 1
        elif step is not None and action and _find_distance(in_steps, action, position) <= until_answer:
            before.setdefault(current, []).append(position)
            position += 1
        else:
            found.append(None)
    if position < len(steps):
        before[len(answers)] = list(range(position, len(steps)))
    return StepAlignment(found, before)


def _list_positions(actions: Sequence[str]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for index, action in enumerate(actions):
        positions.setdefault(action, []).append(index)
    return positions


def _find_distance(positions: dict[str, list[int]], action: str, start: int) -> int:
    """How far away the next such action is."""
    listed = positions.get(action, [])
    at = bisect_left(listed, start)
    return listed[at] - start if at < len(listed) else NEVER
