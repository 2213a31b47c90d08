"""Finds records of one recording among the trials of a scenario, so that one recording counts once."""

from __future__ import annotations

import hashlib
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.trace.trace import Trace

    Pair = tuple[int, int]

BITS = 52
"""Bits of a digest: few enough for JSON, and enough for the trials of one scenario."""
_SPOKEN = itemgetter("role", "content")
_CALLED = itemgetter("name", "arguments")
_ANSWERED = itemgetter("name", "arguments", "result_text")
SAME_RECORDING = "{other} is the same recording as {first} and does not count"
SAME_ID = "{first} and {other} have the same trace id and differ: both count"
SAME_NUMBER = "{first} and {other} have the same trial number and differ: both count"
COPY = "{other} may be a copy of {first}, only ids or trial number differ (record `started_at`): both count"


class TraceIdentity(NamedTuple):
    """Digests of what a trace is called, by its id or else its bytes, and of its conversation; None if unknown."""

    named: int | None
    content: int | None


class TrialFacts(NamedTuple):
    """What tells the trials of a scenario apart; `figures` are their cost, times and tokens."""

    named: Sequence[int | None]
    content: Sequence[int | None]
    numbers: Sequence[int | None]
    figures: Callable[[], Sequence[tuple[Any, ...]]]
    locate: Callable[[int], str]


class Duplicates(NamedTuple):
    """The indexes of the trials that count, and a sentence about each kind of duplicates.

    `copies` are indexes in `kept` of traces that may be copies of others, described by `copy_note`.
    """

    kept: Sequence[int]
    notes: Sequence[str]
    copies: frozenset[int] = frozenset()
    copy_note: str = ""


def identify_trace(trace: Trace) -> TraceIdentity:
    """The identity of a trace; computed once."""
    found: TraceIdentity | None = trace.identity
    if found is None:
        found = trace.identity = TraceIdentity(_digest_name(trace), _digest_conversation(trace))
    return found


def _digest_name(trace: Trace) -> int | None:
    """The digest of the recorded trace id; without one, of the record."""
    source = trace.source
    if trace.trace_id and not (source.sha256 and trace.trace_id.startswith(source.sha256[:32])):
        return _digest(["id", trace.trace_id])
    if source.record is None:
        return _digest(["bytes", source.sha256]) if source.sha256 else None
    figures = [trace.trial, trace.usage, trace.cost, trace.latency, trace.started_at, trace.ended_at, trace.status]
    return _digest([*figures, trace.model, trace.tags, trace.evaluations, trace.metadata, _digest_conversation(trace)])


def _digest_conversation(trace: Trace) -> int:
    spoken = list(map(_SPOKEN, trace.messages))
    has_results = len(spoken) > len(trace.tool_calls)  # results are messages too
    return _digest([spoken, list(map(_CALLED if has_results else _ANSWERED, trace.tool_calls))])


def _digest(value: Any) -> int:
    try:
        data = orjson.dumps(value)
    except TypeError:  # an integer of more than 64 bits, or half of a surrogate pair
        data = repr(value).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") >> (64 - BITS)


def find_duplicates(facts: TrialFacts) -> Duplicates | None:
    """The trials that count, and what else is alike; None if all differ in everything."""
    if all(map(_are_distinct, facts[:3])):
        return None
    everything = range(len(facts.named))
    keys = [None if None in pair else pair for pair in zip(facts.named, facts.content, strict=True)]
    same = list(_list_pairs(keys, everything))
    dropped = {other for _, other in same}
    kept = [index for index in everything if index not in dropped]
    names, numbers = (list(_list_pairs(values, kept)) for values in (facts.named, facts.numbers))
    copies = list(_list_pairs(_list_copy_keys(facts), kept))
    differing = [pair for pair in numbers if pair not in copies]
    found = [(SAME_RECORDING, same), (SAME_ID, names), (SAME_NUMBER, differing)]
    notes = [_describe(text, pairs, facts.locate) for text, pairs in found if pairs]
    if not copies:
        return Duplicates(kept, notes)
    copied = {other for _, other in copies}
    indexes = frozenset(at for at, index in enumerate(kept) if index in copied)
    return Duplicates(kept, notes, indexes, _describe(COPY, copies, facts.locate))


def _are_distinct(values: Sequence[int | None]) -> bool:
    known = [value for value in values if value is not None]
    return len(set(known)) == len(known)


def _list_copy_keys(facts: TrialFacts) -> Sequence[object]:
    """Conversations with their figures: two runs seldom take equally long."""
    if _are_distinct(facts.content):
        return facts.content
    return [
        None if content is None else (content, *figures)
        for content, figures in zip(facts.content, facts.figures(), strict=True)
    ]


def _list_pairs(values: Sequence[object], indexes: Sequence[int]) -> Iterator[Pair]:
    """Each index with the first of the same value; None equals nothing."""
    first: dict[object, int] = {}
    for index in indexes:
        value = values[index]
        if value is not None and first.setdefault(value, index) != index:
            yield first[value], index


def _describe(text: str, pairs: Sequence[Pair], locate: Callable[[int], str]) -> str:
    first, other = pairs[0]
    more = f" (and {len(pairs) - 1:,} more)" if len(pairs) > 1 else ""
    return text.format(first=locate(first), other=locate(other)) + more
