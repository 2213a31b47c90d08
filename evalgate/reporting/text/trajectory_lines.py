"""A trajectory diff as signed lines of plain text, not yet escaped."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.comparison.trajectory import CallStep, TextPart, TrajectoryDiff


NOTHING, NO_EFFECT = "nothing", "only look-ups"
MAX_CHANGES = 3
MAX_VALUE = 60
_SIGNS = {"removed": "-", "added": "+"}
_DIVERGENCE_WORDS = {
    "user": "the user's message in turn {}",
    "words": "the agent's message in turn {}",
    "answer": "the final answer",
    "end": "the end of the trace",
}


class DiffLine(NamedTuple):
    """A line with its sign: `-` removed, `+` added, empty unchanged."""

    sign: str
    text: str


def summarize_calls(steps: Sequence[CallStep]) -> list[list[DiffLine]]:
    """Groups lines of unchanged calls, equal neighbours merged, and lines of calls that differ."""
    groups: list[list[DiffLine]] = []
    for is_kept, run in groupby(steps, key=_is_unchanged):
        if is_kept:
            groups.append(merge_equal_lines("", [step.name for step in run]))
        else:
            groups.append([line for step in run for line in _summarize_step(step)])
    return groups


def merge_equal_lines(sign: str, texts: Iterable[str]) -> list[DiffLine]:
    """Makes a line of each text; equal neighbours become one line with their number."""
    counts = [(text, len(list(equal))) for text, equal in groupby(texts)]
    return [DiffLine(sign, f"{text} \u00d7{number}" if number > 1 else text) for text, number in counts]


def _is_unchanged(step: CallStep) -> bool:
    return step.kind == "same" and not step.outcome


def _summarize_step(step: CallStep) -> Iterator[DiffLine]:
    name, outcome = step.name, step.outcome
    if step.kind in _SIGNS:
        yield DiffLine(_SIGNS[step.kind], f"{name} {shorten(step.arguments, 2 * MAX_VALUE)}")
        return
    for sign, side in (("-", "before"), ("+", "now")):
        changes = [
            f"{change.path or 'arguments'}: {shorten(value, MAX_VALUE) if value is not None else NOTHING}"
            for change in step.changes[:MAX_CHANGES]
            for value in (change.baseline if side == "before" else change.current,)
        ]
        left = len(step.changes) - len(changes) + step.changes_left
        parts = [*changes, *([f"\u2026 {left} more"] if left else [])]
        status = (outcome.baseline if side == "before" else outcome.current) if outcome else None
        inside = ", ".join(parts) or "\u2026"
        yield DiffLine(sign, f"{name}({inside}){f' -> {name_status(status)}' if status else ''}")


def name_status(status: str) -> str:
    """How a call ended, in words: a recorded result need not say whether it is a success.

    >>> name_status("unknown")
    'returned'
    """
    return {"unknown": "returned", "missing": "no result"}.get(status, status)


def describe_reading(trajectory_diff: TrajectoryDiff) -> str:
    """That neither side changed anything by a call, whatever its answer says; empty if that is not sure."""
    if not trajectory_diff.reads_only:
        return ""
    return NO_EFFECT if trajectory_diff.steps else "no tool was called"


def are_calls_same(trajectory_diff: TrajectoryDiff) -> bool:
    """Whether both sides make the same calls, with the same arguments and ends."""
    return all(map(_is_unchanged, trajectory_diff.steps))


def describe_divergence(trajectory_diff: TrajectoryDiff) -> str:
    """Describes the first divergence, e.g. `call 2 in turn 1`; empty if both sides agree."""
    first = trajectory_diff.first
    if first is None:
        return ""
    if first.kind != "calls":
        where = _DIVERGENCE_WORDS.get(first.kind, "a change in turn {}").format(first.turn)
        reading = describe_reading(trajectory_diff) if first.kind == "answer" else ""
        return f"{where} ({reading})" if reading else where
    if first.current is None:
        now = find_moved_calls(trajectory_diff.steps).get(first.baseline or 0)
        end = "is missing" if now is None else f"is call {now} now"
        return f"call {first.baseline} of the baseline in turn {first.turn}, which {end}"
    new = ", which is new" if first.baseline is None else ""
    return f"call {first.current} in turn {first.turn}{new}"


def find_moved_calls(steps: Sequence[CallStep]) -> dict[int, int]:
    """The calls that this run makes at another place: their numbers in the baseline, and now."""
    return {
        step.baseline.call: step.current.call
        for step in steps
        if step.kind == "added" and step.baseline and step.current
    }


def mark_changes(parts: Sequence[TextPart], max_kept: int) -> str:
    """Merges both texts as `[-removed-]` and `{+added+}`; unchanged text is kept only near a change."""
    texts = []
    for index, part in enumerate(parts):
        if part.kind == "gone":
            texts.append(f"[-{part.text}-]")
        elif part.kind == "come":
            texts.append(f"{{+{part.text}+}}")
        else:
            texts.append(_trim_unchanged(part.text, max_kept, is_first=index == 0, is_last=index + 1 == len(parts)))
    return "".join(texts)


def extract_side(parts: Sequence[TextPart], omitted_kind: str, max_kept: int) -> str:
    """Extracts one of the two texts: all parts but those of kind `omitted_kind`."""
    return "".join(
        _trim_unchanged(part.text, max_kept, is_first=index == 0, is_last=index + 1 == len(parts))
        if part.kind == "kept"
        else part.text
        for index, part in enumerate(parts)
        if part.kind != omitted_kind
    )


def _trim_unchanged(text: str, max_kept: int, *, is_first: bool, is_last: bool) -> str:
    """Keeps only the ends of an unchanged text that touch a change."""
    head, tail = 0 if is_first else max_kept, 0 if is_last else max_kept
    if len(text) <= head + tail + 1:
        return text
    return f"{text[:head]}\u2026{text[len(text) - tail :]}"
