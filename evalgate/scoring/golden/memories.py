"""Reads the memories that an agent retrieved out of a trace.

They are the results of its calls of memory tools, and the entries of the trace's `metadata.memories`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.text.globs import matches_id
from evalgate.measures.values.json_values import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import ToolCall, Trace

MEMORY_TOOLS: tuple[str, ...] = (
    *("recall*", "*_recall", "load_memory", "*search_memor*", "*get_memor*", "*read_memor*"),
    *("*retrieve_memor*", "*query_memor*", "*find_memor*", "*memory_search", "*memory_get"),
)
"""Tools that retrieve memories, if a suite names none; `*` matches any characters."""
METADATA_KEYS = ("memories", "retrieved_memories")
MAX_MEMORIES = 1_000
_LIST_KEYS = ("memories", "results", "items", "documents", "matches")
_TEXT_KEYS = ("content", "text", "memory", "value", "summary")
_KIND_KEYS = ("kind", "type", "memory_type", "category")


class Memory(NamedTuple):
    """One memory: its text, its kind if the trace records it, and the value in the trace."""

    text: str
    kind: str | None
    recorded: Any


def find_retrieved_memories(calls: Sequence[ToolCall], tools: Sequence[str]) -> list[Memory]:
    """The memories in the results of memory tools."""
    found = [
        memory
        for call in calls
        if call["status"] == "ok" and any(matches_id(glob, call["name"]) for glob in tools)
        for memory in _extract_memories(call["result"] if call["result"] is not None else call["result_text"])
    ]
    return found[:MAX_MEMORIES]


def find_listed_memories(trace: Trace) -> dict[int, list[Memory]]:
    """Memories that the trace's metadata lists, by turn from 1; an entry without `turn` is of the first."""
    found: dict[int, list[Memory]] = {}
    for name in METADATA_KEYS:
        values = trace.metadata.get(name)
        for value in values[:MAX_MEMORIES] if isinstance(values, list) else ():
            turn = value.get("turn") if isinstance(value, dict) else None
            number = turn if isinstance(turn, int) and not isinstance(turn, bool) and turn > 0 else 1
            found.setdefault(number, []).append(_build_memory(value))
    return found


def _extract_memories(result: Any) -> Iterator[Memory]:
    """The memories in a tool's result: a list of them, a mapping that holds such a list, or a single one."""
    if isinstance(result, dict):
        inner = next((result[name] for name in _LIST_KEYS if isinstance(result.get(name), list)), None)
        result = [result] if inner is None and result else inner or []
    for value in result if isinstance(result, list) else [result]:
        if value not in (None, "", {}, []):
            yield _build_memory(value)


def _build_memory(value: Any) -> Memory:
    if not isinstance(value, dict):
        return Memory(value if isinstance(value, str) else show(value, 2_000), None, value)
    text = next((value[name] for name in _TEXT_KEYS if isinstance(value.get(name), str)), None)
    kind = next((value[name] for name in _KIND_KEYS if isinstance(value.get(name), str)), None)
    return Memory(show(value, 2_000) if text is None else text, kind and kind.casefold(), value)
