"""Adds to a trace of model calls what only the spans of tools record: times, durations, errors, names of agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.strict_json import encode_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.trace.trace import ToolCall, Trace


def add_tool_facts(trace: Trace, spans: Iterable[Trace]) -> None:
    """Sets what a trace of spans knows of the same calls, found by id, else by name and arguments."""
    measured = [call for one in spans for call in one.tool_calls if call["duration_ms"] is not None]
    by_key: dict[str, list[ToolCall]] = {}
    for call in reversed(measured):
        for key in _list_keys(call):
            by_key.setdefault(key, []).append(call)
    used: set[int] = set()
    for call in trace.tool_calls:
        for key in _list_keys(call):
            found = by_key.get(key, [])
            while found and id(found[-1]) in used:
                found.pop()
            if found and _may_be_same(found[-1], call):
                used.add(id(found[-1]))
                _add(call, found.pop())
                break


def _list_keys(call: ToolCall) -> list[str]:
    """The keys of a call, by which it is looked up: name and id, name and arguments."""
    named = [] if call["id"] is None else [encode_json(["id", call["name"], call["id"]])]
    return [*named, encode_json(["arguments", call["name"], call["arguments"]])]


def _may_be_same(one: ToolCall, other: ToolCall) -> bool:
    return one["id"] is None or other["id"] is None or one["id"] == other["id"]


def _add(call: ToolCall, measured: ToolCall) -> None:
    if call["duration_ms"] is None:
        call["duration_ms"] = measured["duration_ms"]
        call["started_at"] = call["started_at"] or measured["started_at"]
    if measured["status"] in ("error", "ok") and call["status"] in ("ok", "unknown"):
        call["status"], call["error"] = measured["status"], measured["error"]
    if call["exit_code"] is None:
        call["exit_code"] = measured["exit_code"]
    call["agent"] = call["agent"] or measured["agent"]
