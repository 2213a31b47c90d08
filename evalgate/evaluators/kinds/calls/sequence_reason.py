"""The reason of a failed `tool_sequence`: where calls and steps first differ, and their alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from evalgate.evaluators.kinds.calls.tool_called import SHOWN, listed
from evalgate.measures.sequences.step_matching import Calls
from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from evalgate.evaluators.kinds.calls.steps import CompiledSequence
    from evalgate.measures.sequences.step_matching import Alignment

_ROWS, _NAME = 2 * SHOWN, 1_000


class NamedCalls(Calls, Protocol):
    """The calls of one trace, with their names and differences."""

    def name(self, at: int) -> str:
        """Returns the tool of a call."""

    def difference(self, kind: int, at: int) -> str | None:
        """Returns what is wrong with a call of one of the kind's tools; None for another tool."""


def reason(
    found: Alignment, steps: CompiledSequence, calls: NamedCalls, *, closed: bool, ordered: bool
) -> str:
    """Describes the first divergence, missing steps, extra calls if `closed`, then the alignment."""
    parts = []
    if found.missing:
        parts.append(_divergence(found, steps, calls, ordered=ordered))
        parts.append(f"missing {listed([steps.text(slot) for slot in found.missing])}")
    if closed and found.extra:
        if not found.missing:
            at = found.extra[0]
            parts.append(f"call {at + 1}: {shorten(calls.name(at), 60)} was not expected")
        parts.append(f"extra {listed([calls.name(at) for at in found.extra])}")
    parts.append(f"alignment: {_alignment(found, steps, calls)}")
    if calls.effort.ran_out:
        parts.append("too many steps and calls to compare them all")
    return "; ".join(parts)


def _divergence(found: Alignment, steps: CompiledSequence, calls: NamedCalls, *, ordered: bool) -> str:
    """Describes the first step without a call, and the call nearest to it."""
    slot = found.missing[0]
    expected = f"step {slot + 1}: expected {steps.text(slot)}"
    place = _place(found, slot)
    near = _nearest(found, steps, calls, slot, place if ordered else 0)
    if near is not None:
        return f"{expected}, got call {near[0] + 1} {near[1]}"
    if not ordered:
        return f"{expected}, not called"
    return f"{expected}, got {shorten(calls.name(place), 60) if place < calls.count else 'the end'}"


def _place(found: Alignment, slot: int) -> int:
    """Returns the position after the last call that is matched to a step before `slot`."""
    place = 0
    for step, at in found.rows:
        if step == slot:
            break
        if step is not None and at is not None:
            place = at + 1
    return place


def _nearest(
    found: Alignment, steps: CompiledSequence, calls: NamedCalls, slot: int, place: int
) -> tuple[int, str] | None:
    """Finds a call of the step's tool that no step is matched to, and what is wrong with it."""
    kind = steps.plan.slots[slot].kind
    for at in sorted(found.extra, key=lambda at: (at < place, at)):
        if told := calls.difference(kind, at):
            return at, f"{shorten(calls.name(at), 60)}, whose {told}"
    return None


def _alignment(found: Alignment, steps: CompiledSequence, calls: NamedCalls) -> str:
    told = []
    for slot, at in found.rows[:_ROWS]:
        if slot is None and at is not None:
            told.append(f"call {at + 1} {shorten(calls.name(at), 60)} = no step")
        elif slot is not None:
            told.append(f"{steps.text(slot)} = {'no call' if at is None else f'call {at + 1}'}")
    more = len(found.rows) - _ROWS
    return ", ".join([*told, f"{more} more"] if more > 0 else told)


def evidence(found: Alignment, steps: CompiledSequence, calls: NamedCalls) -> dict[str, Any]:
    """Returns the alignment as rows [expected or null, called or null]."""
    rows = [
        [None if slot is None else steps.text(slot), None if at is None else shorten(calls.name(at), _NAME)]
        for slot, at in found.rows[:_ROWS]
    ]
    return {"alignment": rows, "more": max(0, len(found.rows) - _ROWS)}
