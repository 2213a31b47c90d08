"""The JMESPath view of a trace: the data that expressions in suites can access. A public interface.

Sections are built on first access, since most suites use two or three of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.models.trace.final_answer import find_final_answer
from evalgate.models.trace.trace import KINDS, Cost, Latency, ToolCall, Trace, Usage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import EvidenceKind, EvidenceState, Message

Section = Callable[[Trace], Any]
ARGUMENT_SOURCES = "argument_sources"
"""Where the sources of a trace's arguments are kept, once a check has asked for them."""
_RAW_SECTIONS = frozenset({"usage", "cost", "latency"})
"""Sections that are attributes of the trace, unchanged."""
JSON_BEGINS = frozenset('{["-0123456789tfn')
"""First characters of a JSON text."""


def get_view(trace: Trace) -> TraceView:
    """The trace's view; made once, so that all assertions on a trace share its sections."""
    view: TraceView | None = trace.kept_view
    if view is None:
        view = trace.kept_view = TraceView(trace)
    return view


class TraceView:
    """Read-only mapping from section name to data; `whole()` returns it as a plain dictionary.

    `cache` is for other values that several assertions on a trace share.
    """

    __slots__ = ("_built", "_trace", "cache")

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.cache: dict[int | str, Any] = {}
        self._built: dict[str, Any] = {}

    def get(self, name: str, default: Any = None) -> Any:
        """One section by name; unknown names are None, as in JMESPath."""
        if name in self._built:
            return self._built[name]
        build = SECTIONS.get(name)
        if build is None:
            return default
        value = self._built[name] = build(self._trace)
        return value

    def field(self, section: str, name: str) -> Any:
        """The value of `get(section).get(name)`, without building large sections."""
        read = find_field(section, name)
        if read is not None:
            return read(self._trace)
        found = self.get(section)
        return found.get(name) if isinstance(found, dict) else None

    def whole(self) -> dict[str, Any]:
        """All sections, for expressions on the view itself."""
        return {name: self.get(name) for name in SECTIONS}


def _build_response(trace: Trace) -> dict[str, Any]:
    response = trace.response
    content = response["content"]
    return {
        "content": content,
        "text": content,
        "json": _parse_json(content),
        "finish_reason": response["finish_reason"],
        "role": "assistant" if content is not None else None,
        "message_index": response["message_index"],
    }


def _parse_json(content: str | None) -> Any:
    """The answer parsed as JSON, of which every value counts; None if it is no JSON."""
    if content is None or content.lstrip()[:1] not in JSON_BEGINS:
        return None
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


def find_field(section: str, name: str) -> Section | None:
    """Returns how a field is read from a trace directly, None if its section has to be built."""
    if section == "response" and name in {"content", "text"}:
        return answer_of
    if section == "metadata":
        return METADATA.get(name) or read_custom(name)
    if section in _RAW_SECTIONS:
        read = SECTIONS[section]
        return lambda trace: read(trace).get(name)
    return None


def answer_of(trace: Trace) -> str | None:
    """Returns the final answer."""
    return trace.response["content"]


def read_custom(name: str) -> Section:
    """Returns how a field of the recorder's own metadata is read."""
    return lambda trace: trace.metadata.get(name)


def _build_metadata(trace: Trace) -> dict[str, Any]:
    known = {name: read(trace) for name, read in METADATA.items()}
    return {**trace.metadata, **known} if trace.metadata else known


def _read_latency_seconds(trace: Trace) -> float | None:
    latency_ms = trace.latency["total_ms"]
    return None if latency_ms is None else latency_ms / 1000


def _build_exchanges(trace: Trace) -> list[dict[str, Any]]:
    """One entry per user input: the input, the answer to it, and the calls in between."""
    found: dict[int, dict[str, Any]] = {}
    messages: dict[int, list[Message]] = {}
    for message in trace.messages:
        if message["turn"] == 0:
            continue
        exchange = found.setdefault(
            message["turn"],
            {
                "turn": message["turn"],
                "user": None,
                "response": None,
                "tool_calls": [],
                "usage": None,
                "cost_usd": None,
                "latency_ms": None,
            },
        )
        messages.setdefault(message["turn"], []).append(message)
        if message["role"] == "user" and exchange["user"] is None:
            exchange["user"] = message["content"]
    last = max(found, default=0)
    for turn, exchange in found.items():  # the user's next message shows that the agent had ended its turn
        exchange["response"] = find_final_answer(messages[turn], ends_with_call=turn < last)["content"]
    if found and trace.response["content"] is not None:
        found[_find_turn_of_answer(trace, last)]["response"] = trace.response["content"]
    for call in trace.agent_calls:
        if call["turn"] in found:
            found[call["turn"]]["tool_calls"].append(call)
    return [found[turn] for turn in sorted(found)]


def _find_turn_of_answer(trace: Trace, last: int) -> int:
    """The turn of the final answer: that of its message, else the last in which the agent did something."""
    index = trace.response["message_index"]
    if index is not None and index < len(trace.messages):
        return trace.messages[index]["turn"] or last
    return max((each["turn"] for each in trace.messages if each["role"] == "assistant" and each["turn"]), default=last)


def _list_errors(trace: Trace) -> list[dict[str, Any]]:
    calls: Iterator[dict[str, Any]] = (
        {"tool": call["name"], "index": call["index"], **(call["error"] or {"type": None, "message": None})}
        for call in trace.agent_calls
        if call["status"] == "error"
    )
    run = [{"tool": None, "index": None, **trace.error}] if trace.error else []
    return [*run, *calls]


def is_captured(call: ToolCall) -> bool:
    """Returns whether the arguments of the call were recorded, valid or not."""
    return not (call["arguments"] is None and call["arguments_raw"] is None and call["arguments_error"] is None)


OF_CALLS: frozenset[EvidenceKind] = frozenset({"calls", "arguments", "results", "errors"})
"""Evidence that can't be complete if calls are missing."""


def list_evidence(trace: Trace) -> dict[EvidenceKind, EvidenceState]:
    """The state of each kind: complete, partial (some of it is known to be missing), or missing."""
    calls = trace.tool_calls
    has_results = [call["status"] != "missing" for call in calls]
    states: dict[EvidenceKind, EvidenceState] = {
        "messages": "complete" if trace.messages else "missing",
        "calls": "complete",
        "arguments": _state([is_captured(call) for call in calls]),
        "results": _state(has_results),
        "usage": "missing" if trace.usage["total_tokens"] is None else "complete",
        "cost": "missing" if trace.cost["usd"] is None else "complete",
        "times": "missing" if trace.latency["total_ms"] is None else "complete",
        "errors": _state(has_results),
    }
    incomplete = {*trace.gaps, *(OF_CALLS if "calls" in trace.gaps else ())}
    for kind in incomplete:
        has_some = bool(calls) if kind in OF_CALLS else states[kind] != "missing"
        states[kind] = "partial" if has_some and states[kind] != "missing" else "missing"
    return states


def _state(known: list[bool]) -> EvidenceState:
    if all(known):
        return "complete"
    return "partial" if any(known) else "missing"


METADATA: dict[str, Section] = {
    "scenario_id": lambda trace: trace.scenario_id,
    "trial": lambda trace: trace.trial,
    "trace_id": lambda trace: trace.trace_id,
    "conversation_id": lambda trace: trace.conversation_id,
    "model": lambda trace: trace.model,
    "provider": lambda trace: trace.provider,
    "agent": lambda trace: trace.agent,
    "framework": lambda trace: (trace.agent or {}).get("framework"),
    "format": lambda trace: trace.source.format,
    "cost_usd": lambda trace: trace.cost["usd"],
    "latency_ms": lambda trace: trace.latency["total_ms"],
    "latency_seconds": _read_latency_seconds,
    "input_tokens": lambda trace: trace.usage["input_tokens"],
    "output_tokens": lambda trace: trace.usage["output_tokens"],
    "total_tokens": lambda trace: trace.usage["total_tokens"],
    "cache_read_input_tokens": lambda trace: trace.usage["cache_read_input_tokens"],
    "turn_count": lambda trace: trace.turn_count,
    "tool_call_count": lambda trace: trace.call_count,
    "llm_call_count": lambda trace: len(trace.llm_calls) or None,
    "finish_reason": lambda trace: trace.finish_reason,
    "status": lambda trace: trace.status,
    "stopped_by": lambda trace: trace.stopped_by,
    "tags": lambda trace: trace.tags,
    "started_at": lambda trace: trace.started_at,
    "commit": lambda trace: trace.commit,
    "agent_hash": lambda trace: trace.agent_hash,
    "evaluations": lambda trace: trace.scores,
    "custom": lambda trace: trace.metadata,
}

SECTIONS: dict[str, Section] = {
    "response": _build_response,
    "turns": lambda trace: trace.messages,
    "exchanges": _build_exchanges,
    "tool_calls": lambda trace: [*trace.agent_calls, *trace.helper_calls],
    "metadata": _build_metadata,
    "usage": lambda trace: trace.usage,
    "cost": lambda trace: trace.cost,
    "latency": lambda trace: trace.latency,
    "llm_calls": lambda trace: trace.llm_calls,
    "errors": _list_errors,
    "evaluations": lambda trace: trace.evaluations,
    "scores": lambda trace: trace.scores,
    "evidence": list_evidence,
}
CLOSED_OBJECTS: dict[str, frozenset[str]] = {
    "response": frozenset({"content", "text", "json", "finish_reason", "role", "message_index"}),
    "usage": frozenset(Usage.__annotations__),
    "cost": frozenset(Cost.__annotations__),
    "latency": frozenset(Latency.__annotations__),
    "evidence": frozenset(KINDS),
}
"""The sections that are objects of the same fields in every trace."""
