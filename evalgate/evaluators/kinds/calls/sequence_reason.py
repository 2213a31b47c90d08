"""The reason of a failed `tool_sequence`: where calls and steps first differ, and their alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from evalgate.evaluators.kinds.calls.tool_called import MAX_LISTED, format_names
from evalgate.measures.sequences.step_matching import Calls
from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from evalgate.evaluators.kinds.calls.steps import CompiledSequence
    from evalgate.measures.sequences.step_matching import Alignment

_MAX_ROWS, _MAX_NAME = 2 * MAX_LISTED, 1_000


class NamedCalls(Calls, Protocol):
    """The calls of one trace, with their names and differences."""

    def name(self, at: int) -> str:
        """Returns the tool of a call."""

    def difference(self, kind: int, at: int) -> str | None:
        """Returns what is wrong with a call of one of the kind's tools; None for another tool."""


def describe_failure(
    alignment: Alignment, steps: CompiledSequence, calls: NamedCalls, *, closed: bool, ordered: bool
) -> str:
    """Describes the first divergence, missing steps, extra calls if `closed`, then the alignment."""
    parts = []
    if alignment.missing:
        parts.append(_describe_divergence(alignment, steps, calls, ordered=ordered))
        parts.append(f"missing {format_names([steps.text(slot) for slot in alignment.missing])}")
    if closed and alignment.extra:
        if not alignment.missing:
            at = alignment.extra[0]
            parts.append(f"call {at + 1}: {shorten(calls.name(at), 60)} was not expected")
        parts.append(f"extra {format_names([calls.name(at) for at in alignment.extra])}")
    parts.append(f"alignment: {_describe_alignment(alignment, steps, calls)}")
    if calls.budget.ran_out:
        parts.append("too many steps and calls to compare them all")
    return "; ".join(parts)


def _describe_divergence(
    alignment: Alignment, steps: CompiledSequence, calls: NamedCalls, *, ordered: bool
) -> str:
    """Describes the first step without a call, and the call nearest to it."""
    slot = alignment.missing[0]
    expected = f"step {slot + 1}: expected {steps.text(slot)}"
    position = _position_before(alignment, slot)
    nearest = _find_nearest_call(alignment, steps, calls, slot, position if ordered else 0)
    if nearest is not None:
        return f"{expected}, got call {nearest[0] + 1} {nearest[1]}"
    if not ordered:
        return f"{expected}, not called"
    return f"{expected}, got {shorten(calls.name(position), 60) if position < calls.count else 'the end'}"


def _position_before(alignment: Alignment, slot: int) -> int:
    """Returns the position after the last call that is matched to a step before `slot`."""
    position = 0
    for step, at in alignment.rows:
        if step == slot:
            break
        if step is not None and at is not None:
            position = at + 1
    return position


def _find_nearest_call(
    alignment: Alignment, steps: CompiledSequence, calls: NamedCalls, slot: int, position: int
) -> tuple[int, str] | None:
    """Finds a call of the step's tool that no step is matched to, and what is wrong with it."""
    kind = steps.plan.slots[slot].kind
    for at in sorted(alignment.extra, key=lambda at: (at < position, at)):
        if difference := calls.difference(kind, at):
            return at, f"{shorten(calls.name(at), 60)}, whose {difference}"
    return None


def _describe_alignment(alignment: Alignment, steps: CompiledSequence, calls: NamedCalls) -> str:
    texts = []
    for slot, at in alignment.rows[:_MAX_ROWS]:
        if slot is None and at is not None:
            texts.append(f"call {at + 1} {shorten(calls.name(at), 60)} = no step")
        elif slot is not None:
            texts.append(f"{steps.text(slot)} = {'no call' if at is None else f'call {at + 1}'}")
    more = len(alignment.rows) - _MAX_ROWS
    return ", ".join([*texts, f"{more} more"] if more > 0 else texts)


def build_evidence(alignment: Alignment, steps: CompiledSequence, calls: NamedCalls) -> dict[str, Any]:
    """Returns the alignment as rows [expected or null, called or null]."""
    rows = [
        [
            None if slot is None else steps.text(slot),
            None if at is None else shorten(calls.name(at), _MAX_NAME),
        ]
        for slot, at in alignment.rows[:_MAX_ROWS]
    ]
    return {"alignment": rows, "more": max(0, len(alignment.rows) - _MAX_ROWS)}
