"""Names traces without a scenario id by path and, if a file has several, by the first user message."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.build.conversation import first_words
from evalgate.models.trace.trace import MAX_ID_LENGTH

if TYPE_CHECKING:
    from evalgate.models.trace.trace import TraceLocation, Trace

SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt", ".log", ".traj", ".pb", ".binpb")
DIGITS = 12


def scenario_of(trace: Trace, below: str, *, is_one_of_several: bool) -> str:
    """The path below the glob's fixed part without suffix; a hash distinguishes several traces of a file."""
    return named_by(below, first_words(trace.messages) if is_one_of_several else None)


def named_by(below: str, words: str | None) -> str:
    """Like `name_scenario`, with the opening text that distinguishes the conversation; None if not needed."""
    stem = _stem(below)
    return _bounded(stem if words is None else f"{stem}#{_hash(words)}")


@lru_cache(maxsize=64)
def _stem(below: str) -> str:
    """The path without its suffix; cached, as it is the same for all records of a file."""
    stem = below.removesuffix(".gz")
    for suffix in SUFFIXES:
        if stem.endswith(suffix) and not stem.endswith(f"/{suffix}") and stem != suffix:
            return stem.removesuffix(suffix)
    return stem


def name_of_damaged(below: str, source: TraceLocation) -> str:
    """The path below the glob's fixed part, with the line or record number if the file has several."""
    if source.line is not None:
        return _bounded(f"{below}#L{source.line}")
    return _bounded(below if source.record is None else f"{below}#{source.record}")


def _bounded(name: str) -> str:
    """An id has at most 512 characters; a longer path keeps its end."""
    if len(name) <= MAX_ID_LENGTH:
        return name
    return f"{_hash(name)}-{name[DIGITS + 1 - MAX_ID_LENGTH :]}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
