"""Records that hold figures or questions and no answer of the agent: nothing is known about its calls."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from documents import ROOT
from hostile.recorded_calls import list_passed_denials, read

from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

NATIVE = {"schema": "evalgate.trace/1", "usage": {"input_tokens": 100, "output_tokens": 20}}
USER: dict[str, Any] = {"role": "user", "content": "Where is order 42?"}
BLANK: dict[str, Any] = {"role": "assistant", "content": None}
TEXT: dict[str, Any] = {"role": "assistant", "content": "It has shipped."}
CHAT = {"model": "m", "usage": {"prompt_tokens": 100, "completion_tokens": 20}}
CLAUDE = {
    "sessionId": "s",
    "timestamp": "2026-01-01T00:00:00Z",
    "message": {"role": "assistant", "id": "m1", "model": "claude", "usage": {"input_tokens": 10, "output_tokens": 5}},
}
CODEX = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
]
ATIF = {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "m"}}
OBSERVED = {
    "step_id": 2,
    "source": "agent",
    "message": '{"commands": [{"keystrokes": "rm -r data\\n"}]}',
    "observation": {"results": [{"content": "New Terminal Output: root@c:/app# rm -r data"}]},
}
FAILED_CALL = {"model": "m", "error": {"type": "BadRequestError", "message": "too long", "status_code": 400}}

UNKNOWN: dict[str, Sequence[Any]] = {
    "only tokens": [NATIVE | {"messages": []}],
    "only tokens, and an empty list of calls": [NATIVE | {"messages": [], "tool_calls": []}],
    "only model calls": [NATIVE | {"messages": [], "llm_calls": [{"model": "m", "finish_reason": "stop"}]}],
    "a failed model call, and another one": [NATIVE | {"messages": [], "llm_calls": [FAILED_CALL, {"model": "m"}]}],
    "only a question": [NATIVE | {"messages": [USER]}],
    "an answer without content": [NATIVE | {"messages": [USER, BLANK]}],
    "one of two answers without content": [NATIVE | {"messages": [USER, BLANK, USER, TEXT]}],
    "chat messages: only a question": [CHAT | {"messages": [USER]}],
    "a completion without content": [CHAT | {"choices": [{"finish_reason": "stop", "message": BLANK}]}],
    "a Responses object with reasoning alone": [
        {"id": "r", "object": "response", "status": "completed", "output": [{"type": "reasoning", "summary": []}]}
    ],
    "an Anthropic answer without content": [
        {
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": "end_turn",
            "usage": {"output_tokens": 2},
        }
    ],
    "a Claude Code session of tokens": [CLAUDE],
    "a Codex run of tokens": CODEX,
    "Gemini: a part without data": [{"candidates": [{"content": {"role": "model", "parts": [{}]}}]}],
    "Bedrock: no content": [{"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "end_turn"}],
    "LangChain: only a question": [{"messages": [{"type": "human", "data": {"content": "q"}}]}],
    "Pydantic AI: no parts": [
        [
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "q"}]},
            {"kind": "response", "parts": [], "usage": {"input_tokens": 5, "output_tokens": 2}},
        ]
    ],
    "ATIF: only a question": [ATIF | {"steps": [{"step_id": 1, "source": "user", "message": "q"}]}],
    "ATIF: commands in the text, and their output": [ATIF | {"steps": [OBSERVED]}],
}
KNOWN: dict[str, Sequence[Any]] = {
    "an answer": [NATIVE | {"messages": [USER, TEXT]}],
    "an empty answer": [NATIVE | {"messages": [USER, BLANK | {"content": ""}]}],
    "only failed model calls": [NATIVE | {"usage": None, "messages": [USER], "llm_calls": [FAILED_CALL]}],
    "a Codex run with an answer": [
        CODEX[0],
        {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "hi"}},
        CODEX[1],
    ],
}


def read_trace(documents: Sequence[Any]) -> Trace:
    [trace] = read(b"\n".join(map(orjson.dumps, documents)))
    assert isinstance(trace, Trace)
    return trace


@pytest.mark.parametrize("name", UNKNOWN)
def test_no_check_that_forbids_calls_passes_where_no_answer_is_recorded(name):
    trace = read_trace(UNKNOWN[name])
    assert trace.tool_calls == []
    assert list_passed_denials(trace) == []


@pytest.mark.parametrize("name", KNOWN)
def test_an_answer_without_calls_passes_them_all(name):
    assert len(list_passed_denials(read_trace(KNOWN[name]))) > 9


def test_answers_without_content_say_nothing_about_turns_either():
    assert set(read_trace([CLAUDE]).gaps) == {"calls", "messages"}
    assert set(read_trace(CODEX).gaps) == {"calls"}


@pytest.mark.parametrize(
    ("file", "holder", "field"),
    [("promptfoo/output.json", "metadata", "toolCalls"), ("swe-agent/text.json", "", "action")],
)
def test_a_null_in_place_of_calls_is_no_statement_that_there_were_none(file, holder, field):
    document = orjson.loads((ROOT / "tests" / "recordings" / file).read_bytes())
    changed = _set_null(copy.deepcopy(document), holder, field)
    passed = {t.trace_id: list_passed_denials(t) for t in read(orjson.dumps(changed)) if _is_empty(t)}
    known = {t.trace_id for t in read(orjson.dumps(document)) if _is_empty(t)}
    assert [passed[name] for name in passed.keys() - known if passed[name]] == []
    assert passed.keys() - known


def _is_empty(record: Any) -> bool:
    return isinstance(record, Trace) and not record.tool_calls


def _set_null(value: Any, holder: str, field: str, within: str = "") -> Any:
    if isinstance(value, list):
        return [_set_null(each, holder, field, within) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: None if key == field and holder in (within, "") else _set_null(each, holder, field, key)
        for key, each in value.items()
    }
