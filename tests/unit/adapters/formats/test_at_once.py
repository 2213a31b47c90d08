"""Reading in one go gives the same as careful reading, down to the order of keys."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.native import NATIVE as OF_OUR_OWN
from evalgate.adapters.formats.native import reader as native
from evalgate.adapters.formats.openai_chat import OPENAI_CHAT
from evalgate.adapters.formats.openai_chat import reader as openai_chat
from evalgate.models.trace.trace import Trace, TraceLocation

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.format import Format

NATIVE: dict[str, Any] = {
    "schema": "evalgate.trace/1",
    "trace_id": "t1",
    "scenario_id": "refund",
    "trial": 2,
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Where"}, {"type": "text", "text": "is it?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "name": "get_order", "arguments": {"order": "A1"}},
                {"id": "c2", "name": "wait", "arguments": {"for": ["a", {"b": 1}]}},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "no", "is_error": True, "name": "wait"},
        {"role": "tool", "tool_call_id": "c1", "content": {"on": "its way"}, "duration_seconds": 1},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "wait", "arguments": {}}]},
        {"role": "tool", "content": "done", "exit_code": 0},
        {"role": "assistant", "content": "On its way."},
    ],
    "usage": {"output_tokens": 80, "input_tokens": 900},
    "cost_usd": 0.012,
    "latency_seconds": 1.001,
    "finish_reason": "end_turn",
    "metadata": {"team": "a"},
}
RARE: dict[str, Any] = {
    "name": "n",
    "provider": "p",
    "conversation_id": "c",
    "agent": {"name": "a", "framework": "f"},
    "status": "error",
    "error": {"type": "t", "message": "m"},
    "started_at": "2026-01-01T01:00:00+01:00",
    "ended_at": "2026-01-01T00:00:02Z",
    "system_instructions": "Be brief.",
    "tool_definitions": [{"name": "wait"}],
    "scores": {"reward": 1.0},
    "tags": {"k": "v"},
    "commit": "sha",
    "agent_hash": "h",
}
ODD = st.sampled_from(
    [
        *(None, True, 0, -1, 3, 1.5, 1e300, 10**12, 10**16, "", "c1", "c2", "user", "tool", "system", "x"),
        *([], {}, "length", "incomplete", "{", '{"a":1}', {"a": {"b": []}}, ["a"], "2026-01-01", "y" * 600),
        *([{"type": "text", "text": "hi"}], [{"type": "image"}, {"type": "text", "text": "hi"}]),
        [{"id": "c9", "name": "n", "arguments": {}}],
        *("tool_calls", "Call(name='x')", '{"tool": "x"}', [{"type": "unknown"}], {"name": "n", "arguments": {}}),
    ]
)
CHAT: dict[str, Any] = {
    "id": "t1",
    "scenario_id": "refund",
    "trial": 2,
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Where"}, {"type": "text", "text": "is it?"}]},
        {
            "role": "assistant",
            "content": None,
            "refusal": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": "{}"}},
                {"id": "c2", "type": "function", "function": {"name": "wait", "arguments": {"for": [1]}}},
                {"id": "c3", "name": "search", "arguments": {"a": "b"}, "latency_ms": 12, "error": None},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "no", "name": "wait"},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "its way"}]},
        {"role": "tool", "tool_call_id": "c3", "content": "found"},
        {"role": "assistant", "content": "On its way.", "finish_reason": "end_turn", "name": "a"},
        {"role": "user", "content": "Thanks", "name": "u"},
    ],
    "usage": {"completion_tokens": 80, "prompt_tokens": 900, "total_tokens": 980},
    "cost_usd": 0.012,
    "latency_seconds": 1.001,
    "finish_reason": "stop",
}
RARE_CHAT: dict[str, Any] = {
    "provider": "p",
    "latency_ms": 12,
    "tools": [{"type": "function", "function": {"name": "wait", "parameters": {"a": {}}}}],
    "scores": {"reward": 1.0},
    "metadata": {"team": "a", "evalgate.scenario.id": 7, "evalgate.commit": "c", "evalgate.trial": 3},
    "zzz": {"a": 1},
}
NAMES: tuple[str, ...] = (
    *("role", "content", "tool_calls", "tool_call_id", "name", "is_error", "exit_code", "id", "zzz"),
    *("duration_seconds", "timestamp", "finish_reason", "arguments", "parts", "turn", "source", "cost"),
    *("total_tokens", "latency", "duration_ms", "response", "evaluations", "llm_calls", "warnings"),
    *("run_id", "usd", "evalgate.scenario.id", "evalgate.commit", "cache_read_input_tokens", "schema"),
    *("refusal", "reasoning_content", "function_call", "function", "choices", "evalgate.trial", "custom"),
    *("tool_name", "tool_calls", "calls", "annotations", "usage"),
)
MORE = [*NAMES, *RARE, *RARE_CHAT]
PLACE = TraceLocation("t/a.jsonl", "native", 3, None, "0123456789abcdef" * 4)


def inner(value: Any) -> list[Any]:
    """Every object and list in a document, itself included."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(found for child in children for found in inner(child))] if children else []


@st.composite
def damaged(draw, plain: dict[str, Any], rare: dict[str, Any]) -> dict[str, Any]:
    """A plain document, some rare fields, and up to three changes anywhere."""
    document = copy.deepcopy(plain)
    for name in draw(st.lists(st.sampled_from(sorted(rare)), max_size=3, unique=True)):
        document[name] = copy.deepcopy(rare[name])
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.sampled_from(inner(document)))
        if isinstance(place, list):
            at = draw(st.integers(0, len(place) - 1))
            deed = draw(st.sampled_from(["drop", "last", "again", "odd"]))
            taken = place.pop(at)
            if deed == "again":
                place[at:at] = [taken, copy.deepcopy(taken)]
            elif deed == "last":
                place.append(taken)
            elif deed == "odd":
                place.insert(at, copy.deepcopy(draw(ODD)))
        else:
            name = draw(st.sampled_from([*place, draw(st.sampled_from(MORE))]))
            if draw(st.booleans()):
                place[name] = copy.deepcopy(draw(ODD))
            else:
                place.pop(name, None)
    return document


def describe_trace(trace: Any) -> str:
    """Everything in it, after its messages are built."""
    assert isinstance(trace, Trace), trace
    assert (trace.called, trace.turn_count) == (
        [call["name"] for call in trace.agent_calls],
        trace.messages[-1]["turn"],
    )
    return repr(trace)


def both(reader: Any, form: Format, document: Any) -> tuple[Trace | None, Any]:
    """A document read in one go and carefully; None for a document of another format."""
    at_once = reader.READER.at_once(copy.deepcopy(document), PLACE, "below.jsonl")
    if not form.claims(document):
        return at_once, None
    return at_once, read_record(reader.READER, document, PLACE, "below.jsonl")


@settings(max_examples=200)
@given(damaged(NATIVE, RARE))
@example({**NATIVE, **RARE})
@example({name: value for name, value in NATIVE.items() if name != "scenario_id"})
def test_a_native_line_is_read_in_one_go_as_with_care(document):
    at_once, with_care = both(native, OF_OUR_OWN, document)
    assert at_once is None or describe_trace(at_once) == describe_trace(with_care)


@settings(max_examples=200)
@given(damaged(CHAT, RARE_CHAT))
@example({**CHAT, **RARE_CHAT})
@example({**CHAT, "messages": [*CHAT["messages"], {"role": "user", "name": 1}]})
@example({**CHAT, "messages": [*CHAT["messages"], {"role": "system", "name": ["x"]}]})
@example({name: value for name, value in CHAT.items() if name != "scenario_id"})
def test_a_line_of_openai_messages_is_read_in_one_go_as_with_care(document):
    at_once, with_care = both(openai_chat, OPENAI_CHAT, document)
    assert at_once is None or describe_trace(at_once) == describe_trace(with_care)


HIDDEN_CALLS: list[tuple[str, Any]] = [
    ("function_calls", [{"name": "delete_user", "arguments": {}}]),
    ("zzz", {"steps": [{"tool": "delete_user", "tool_input": {}}]}),
    ("metadata", {"tool_name": "delete_user"}),
    ("metadata", {"run": {"tool_name": "delete_user"}}),
    ("tool_name", "delete_user"),
    ("function_calls", '[{"name": "delete_user", "arguments": {}}]'),
]


@pytest.mark.parametrize(("name", "value"), HIDDEN_CALLS)
@pytest.mark.parametrize("form", [NATIVE, CHAT])
def test_a_field_that_may_hold_a_call_is_read_with_care(form, name, value):
    reader = native if form is NATIVE else openai_chat
    assert reader.READER.at_once({**form, name: value}, PLACE, "below.jsonl") is None


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "Done.", "tool_name": "delete_user"},
        {"role": "assistant", "content": "Done.", "steps": [{"fn": "delete_user"}]},
        {"role": "assistant", "content": [{"type": "action", "name": "delete_user"}]},
        {"role": "assistant", "content": [{"type": "image", "toolUse": {"name": "delete_user"}}]},
        {"role": "assistant", "content": "ToolCall(name='delete_user', arguments='{}')"},
    ],
)
@pytest.mark.parametrize("form", [NATIVE, CHAT])
def test_a_message_that_may_hold_a_call_is_read_with_care(form, message):
    reader = native if form is NATIVE else openai_chat
    assert reader.READER.at_once({**form, "messages": [*form["messages"], message]}, PLACE, "b.jsonl") is None


@pytest.mark.parametrize("form", [NATIVE, CHAT])
def test_a_model_that_asked_for_tools_without_a_call_is_read_with_care(form):
    reader = native if form is NATIVE else openai_chat
    document = {**form, "messages": form["messages"][:2], "finish_reason": "tool_calls"}
    assert reader.READER.at_once(document, PLACE, "b.jsonl") is None


@pytest.mark.parametrize("form", [NATIVE, CHAT])
def test_an_empty_answer_is_known(form):
    reader, kind = (native, OF_OUR_OWN) if form is NATIVE else (openai_chat, OPENAI_CHAT)
    document = {**form, "messages": [*form["messages"][:2], {"role": "assistant", "content": ""}]}
    document.pop("finish_reason")
    at_once, with_care = both(reader, kind, document)
    assert at_once is not None
    assert at_once.response == {"content": "", "finish_reason": None, "message_index": 2}
    assert describe_trace(at_once) == describe_trace(with_care)


@pytest.mark.parametrize("name", ["schema", *RARE])
def test_rare_fields_of_native_lines_are_read_in_one_go(name):
    at_once, with_care = both(native, OF_OUR_OWN, {**NATIVE, name: {**NATIVE, **RARE}[name]})
    assert at_once is not None
    assert describe_trace(at_once) == describe_trace(with_care)


@pytest.mark.parametrize("name", ["id", *RARE_CHAT])
def test_rare_fields_of_openai_lines_are_read_in_one_go(name):
    at_once, with_care = both(openai_chat, OPENAI_CHAT, {**CHAT, name: {**CHAT, **RARE_CHAT}[name]})
    assert at_once is not None
    assert describe_trace(at_once) == describe_trace(with_care)
