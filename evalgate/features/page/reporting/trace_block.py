"""One trace as JSON for the page: messages and calls in reading order, the timeline, tokens and cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from evalgate.features.page.reporting.trace_details import find_unanswered
from evalgate.measures.values.json_values import show
from evalgate.reporting.text import wording
from evalgate.reporting.text.argument_lines import list_argument_lines
from evalgate.reporting.text.conversation_order import (
    measure_depth,
    name_actor,
    name_outcome,
    number_calls,
    order_conversation,
)
from evalgate.reporting.text.escaping import clean_page_text, encode_script_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.trace.trace import LlmCall, Message, ToolCall, Trace, Usage

MAX_TEXT, MAX_NAME = 20_000, 200
"""Characters of a message, of arguments or of a result that a page shows; of a name."""
MAX_DEPTH = 8
"""Levels of agents that a page indents."""
MAX_PARTS = 2_000
"""Messages and calls of one trace that a page shows."""


class PartDoc(TypedDict):
    """A message or a call of a turn. `kind` is the role of a message, or `call`; a call has a status.

    `number` counts the agent's own calls from 1, as the difference does. `depth` and `who` are given if another agent
    than the main one made a call: how far below that, and the call's number with the agent.
    """

    kind: str
    title: str
    turn: int
    text: str
    reasoning: NotRequired[str]
    number: NotRequired[int | None]
    depth: NotRequired[int]
    who: NotRequired[str]
    status: NotRequired[str]
    result: NotRequired[str]
    sources: NotRequired[list[str]]
    seconds: NotRequired[float | None]


class BarDoc(TypedDict):
    """One bar of the timeline, in the order of the steps: `seconds` is null if no duration was recorded."""

    kind: str
    title: str
    seconds: float | None
    turn: int
    figures: str


class TraceBlock(TypedDict):
    """What the page shows of one trace; `left` counts messages and calls that are left out.

    `is_unanswered` is whether it ends with a message of the user.

    `raw` is the record as the run keeps it, as JSON.
    """

    facts: list[list[str]]
    parts: list[PartDoc]
    bars: list[BarDoc]
    left: int
    is_unanswered: bool
    total_seconds: float | None
    raw: NotRequired[str]


def encode_trace_block(trace: Trace, record: Any = None, *, with_sources: bool = False) -> str:
    """The block of a trace, with its record if that is given, as JSON that can be the content of a script element."""
    block = build_trace_block(trace, with_sources=with_sources)
    if record is not None:
        block["raw"] = clean_page_text(json.dumps(record, ensure_ascii=False, indent=1), MAX_TEXT)
    return encode_script_json(block)


def build_trace_block(trace: Trace, *, with_sources: bool = False) -> TraceBlock:
    """Everything that the page shows of a trace; redacted, long texts cut and counted.

    `with_sources` adds to each of the agent's calls where its arguments came from.
    """
    parts = list(_iter_parts(trace))
    for part in parts[:MAX_PARTS] if with_sources else ():
        if (number := part.get("number")) is not None:
            part["sources"] = [clean_page_text(str(line), MAX_FACT) for line in list_argument_lines(trace, number)]
    total = trace.latency["total_ms"]
    return {
        "facts": _list_facts(trace),
        "parts": parts[:MAX_PARTS],
        "bars": _list_bars(trace)[:MAX_PARTS],
        "left": max(0, len(parts) - MAX_PARTS),
        "is_unanswered": bool(find_unanswered(trace)),
        "total_seconds": None if total is None else round(total / 1000, 6),
    }


def _list_facts(trace: Trace) -> list[list[str]]:
    facts = [
        ("Trace", trace.trace_id),
        ("Model", trace.model),
        ("Started", trace.started_at),
        ("Status", trace.status),
        ("Finish reason", trace.finish_reason),
        ("Error", ": ".join(filter(None, (trace.error["type"], trace.error["message"]))) if trace.error else None),
    ]
    facts += [("Warning", warning["message"]) for warning in trace.warnings[:MAX_WARNINGS]]
    return [[label, clean_page_text(text, MAX_FACT)] for label, text in facts if text]


MAX_FACT, MAX_WARNINGS = 1_000, 20


def _iter_parts(trace: Trace) -> Iterator[PartDoc]:
    numbers = number_calls(trace)
    for part in order_conversation(trace):
        if isinstance(part, list):
            for call in part:
                outcome = name_outcome(call)
                part_doc = _build_call(call, numbers.get(call["index"]), outcome)
                actor = name_actor(call, numbers)
                if actor is not None:
                    begun = f"call {part_doc['number']}" if part_doc["number"] else "asked for"
                    part_doc["depth"] = min(measure_depth(call), MAX_DEPTH)
                    part_doc["who"] = clean_page_text(f"{begun}: {actor}", MAX_NAME)
                yield part_doc
        elif part["content"] or part["reasoning"] or not part["tool_calls"]:
            yield _build_message(part)


def _build_message(message: Message) -> PartDoc:
    role = message["role"]
    names = ["agent" if role == "assistant" else role, message["name"] or message["tool_name"], message["agent"]]
    part: PartDoc = {
        "kind": message["role"],
        "title": clean_page_text(" \u00b7 ".join(filter(None, names)), MAX_NAME),
        "turn": message["turn"],
        "text": clean_page_text(message["content"] or "", MAX_TEXT),
    }
    if message["reasoning"]:
        part["reasoning"] = clean_page_text(message["reasoning"], MAX_TEXT)
    return part


def _build_call(call: ToolCall, number: int | None, outcome: str) -> PartDoc:
    arguments = call["arguments_raw"] if call["arguments"] is None else show(call["arguments"], MAX_TEXT)
    if (requested := call.get("requested")) is not None:
        arguments = f"{arguments or ''}\n(asked for {requested['name']} {show(requested['arguments'], MAX_TEXT)})"
    return {
        "kind": "call",
        "number": number,
        "title": clean_page_text(call["name"], MAX_NAME),
        "turn": call["turn"],
        "text": clean_page_text(arguments or "", MAX_TEXT),
        "status": outcome,
        "result": clean_page_text(_describe_result(call), MAX_TEXT),
        "seconds": _to_seconds(call["duration_ms"]),
    }


def _describe_result(call: ToolCall) -> str:
    if call["status"] == "missing":
        return "no result recorded"
    if call["status"] == "error" and call["error"] is not None and call["error"]["message"]:
        return call["error"]["message"]
    return call["result_text"] if call["result_text"] is not None else show(call["result"], MAX_TEXT)


def _list_bars(trace: Trace) -> list[BarDoc]:
    """Model calls and tool calls by step; a model call comes before the calls that it requests."""
    numbers = number_calls(trace)
    bars = [(call["step"], 0, _build_model_bar(call)) for call in trace.llm_calls]
    bars += [(call["step"], 1, _build_tool_bar(call, numbers.get(call["index"]))) for call in trace.tool_calls]
    bars.sort(key=lambda bar: bar[:2])
    return [bar for _, _, bar in bars]


def _build_model_bar(call: LlmCall) -> BarDoc:
    usage = call["usage"]
    figures = [] if usage is None else [_describe_usage(usage)]
    figures += [] if call["cost_usd"] is None else [wording.dollars(call["cost_usd"])]
    title = clean_page_text(call["model"] or "model", MAX_NAME)
    return _build_bar("model", title, call, ", ".join(figures))


def _describe_usage(usage: Usage) -> str:
    return f"{wording.count(usage['input_tokens'])} in, {wording.count(usage['output_tokens'])} out"


def _build_tool_bar(call: ToolCall, number: int | None) -> BarDoc:
    name = clean_page_text(call["name"], MAX_NAME)
    return _build_bar("tool", f"call {number}: {name}" if number else f"{name} (the user's call)", call, "")


def _build_bar(kind: str, title: str, call: Any, figures: str) -> BarDoc:
    seconds = _to_seconds(call["duration_ms"])
    return {"kind": kind, "title": title, "seconds": seconds, "turn": call["turn"], "figures": figures}


def _to_seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds / 1000, 6)
