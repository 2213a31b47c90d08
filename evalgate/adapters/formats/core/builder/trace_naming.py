"""Names traces without a scenario id by path and, if a file has several, by the first user message."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.builder.conversation import find_opening_text
from evalgate.models.trace.trace import MAX_ID_LENGTH

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace, TraceLocation

SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt", ".log", ".traj", ".pb", ".binpb")
HASH_DIGITS = 12


def name_scenario(trace: Trace, relative_path: str, *, is_one_of_several: bool) -> str:
    """The path below the glob's fixed part without suffix; a hash distinguishes several traces of a file."""
    return build_trace_name(relative_path, find_opening_text(trace.messages) if is_one_of_several else None)


def build_trace_name(relative_path: str, opening: str | None) -> str:
    """Like `name_scenario`, with the opening text that distinguishes the conversation; None if not needed."""
    stem = _strip_suffix(relative_path)
    return _shorten_name(stem if opening is None else f"{stem}#{_hash_text(opening)}")


@lru_cache(maxsize=64)
def _strip_suffix(relative_path: str) -> str:
    """The path without its suffix; cached, as it is the same for all records of a file."""
    stem = relative_path.removesuffix(".gz")
    for suffix in SUFFIXES:
        if stem.endswith(suffix) and not stem.endswith(f"/{suffix}") and stem != suffix:
            return stem.removesuffix(suffix)
    return stem


def set_from_path(trace: Trace, scenario_id: str | None, variant: str | None) -> None:
    """Sets the scenario id in the path, unless the trace has one; the variant is a tag and in the metadata."""
    trace.scenario_id = scenario_id if trace.scenario_id is None else trace.scenario_id
    if variant is not None:
        trace.metadata = {"variant": variant, **trace.metadata}
        trace.tags = [*trace.tags, *([] if variant in trace.tags else [variant])]


def name_damaged_record(relative_path: str, source: TraceLocation) -> str:
    """The path below the glob's fixed part, with the line or record number if the file has several."""
    if source.line is not None:
        return _shorten_name(f"{relative_path}#L{source.line}")
    return _shorten_name(relative_path if source.record is None else f"{relative_path}#{source.record}")


def _shorten_name(name: str) -> str:
    """An id has at most 512 characters; a longer path keeps its end."""
    if len(name) <= MAX_ID_LENGTH:
        return name
    return f"{_hash_text(name)}-{name[HASH_DIGITS + 1 - MAX_ID_LENGTH :]}"


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]
