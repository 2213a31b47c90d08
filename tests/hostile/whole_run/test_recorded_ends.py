"""A field that says how a run ended is read: an error, a limit, an end that is missing. Its twin that ended well is ok."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evalgate.models.trace.trace import Trace
from hostile.recorded_calls import read
from hostile.whole_run.case import trace

RECORDINGS = Path(__file__).resolve().parents[2] / "recordings"
OK, ERROR, INCOMPLETE = "ok", "error", "incomplete"
USER, ANSWER = {"role": "user", "content": "Refund order 7."}, {"role": "assistant", "content": "Refunded."}


class End(NamedTuple):
    """A document, or lines, and how the run ended."""

    name: str
    document: Any
    status: str
    stopped_by: str | None = None
    message: str | None = None


def lines(*events: Any) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in events)


def copilot(**shutdown: Any) -> str:
    kinds = {
        "session.start": {"sessionId": "s", "copilotVersion": "1.0.77"},
        "user.message": {"content": "Look"},
        "assistant.turn_start": {"turnId": "0"},
        "assistant.message": {"messageId": "m", "content": "Refunded.", "toolRequests": []},
        "assistant.turn_end": {"turnId": "0"},
        "session.shutdown": {"modelMetrics": {}, **shutdown},
    }
    return lines(
        *(
            {"type": kind, "id": kind, "parentId": None, "timestamp": "2026-11-28T10:00:00Z", "data": data}
            for kind, data in kinds.items()
        )
    )


def claude_code(subtype: str) -> str:
    message = {"id": "m", "role": "assistant", "model": "c", "content": [{"type": "text", "text": "Refunded."}]}
    return lines(
        {"type": "system", "subtype": "init", "session_id": "s", "model": "c", "tools": [], "cwd": "/w"},
        {"type": "assistant", "session_id": "s", "message": message},
        {"type": "result", "session_id": "s", "subtype": subtype, "is_error": subtype != "success", "result": None},
    )


def langchain(**reasons: str) -> Any:
    answer = {"content": "Refunded.", "tool_calls": [], "response_metadata": {"model": "c", **reasons}}
    return {"messages": [{"type": "human", "data": {"content": "hi"}}, {"type": "ai", "data": answer}]}


def autogen(stop_reason: str | None) -> Any:
    about = {"models_usage": None, "metadata": {}, "type": "TextMessage"}
    said = [("user", "Refund order 7."), ("main", "Refunded.")]
    return {"messages": [{"source": who, "content": text, **about} for who, text in said], "stop_reason": stop_reason}


def anthropic(stop_reason: str | None) -> Any:
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": stop_reason}
    usage = {"input_tokens": 1, "output_tokens": 1}
    response = {**answer, "content": [{"type": "text", "text": "Refunded."}], "usage": usage}
    return {"messages": [USER], "response": response}


CONTEXT = {"model": "m", "error": {"type": "BadRequestError", "message": "context too long", "status_code": 400}}
ENDS = [
    End("native: the last model call", trace("a", answer=None, llm_calls=[CONTEXT]), ERROR, message="context too long"),
    End("native: an answer after it", trace("a", llm_calls=[CONTEXT]), OK),
    End("native: a call after it", trace("a", "b", answer=None, llm_calls=[{**CONTEXT, "step": 2}]), OK),
    End("native: another call after it", trace("a", answer=None, llm_calls=[CONTEXT, {"model": "m"}]), OK),
    End("native: with a status", trace("a", answer=None, llm_calls=[CONTEXT], status="ok"), OK),
    End("copilot: an error", copilot(shutdownType="error", errorReason="it crashed"), ERROR, message="it crashed"),
    End("copilot: an end by itself", copilot(shutdownType="routine"), OK),
    End("claude-code: retries", claude_code("error_max_structured_output_retries"), ERROR),
    End("claude-code: turns", claude_code("error_max_turns"), INCOMPLETE, "the limit of turns"),
    End("langchain: stop_reason", langchain(stop_reason="max_tokens"), INCOMPLETE, "the limit of length"),
    End("langchain: finish_reason", langchain(finish_reason="length"), INCOMPLETE, "the limit of length"),
    End("langchain: an end by itself", langchain(stop_reason="end_turn"), OK),
    End("autogen: turns", autogen("Maximum number of turns 10 reached."), INCOMPLETE, "the limit of turns"),
    End("autogen: messages", autogen("Maximum number of messages 10 reached"), INCOMPLETE, "the limit of turns"),
    End("autogen: one turn", autogen("Maximum number of turns 1 reached."), OK),
    End("autogen: an error", autogen("An error occurred in the group chat."), ERROR),
    End("autogen: a word", autogen("Text 'TERMINATE' mentioned"), OK),
    End("anthropic: no reason", anthropic(None), INCOMPLETE),
    End("anthropic: an end by itself", anthropic("end_turn"), OK),
]


BESIDE = {
    "openai-chat": {"messages": [USER, ANSWER]},
    "anthropic": anthropic("end_turn"),
    "langchain": langchain(),
    "ragas": {"user_input": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "Hm.", "tool_calls": []}]},
    **{
        name: json.loads((RECORDINGS / name).read_text())
        for name in (
            *("autogen/result.json", "autogen/team.json", "autogen/framework-response.json", "crewai/crew.json"),
            *("bedrock/converse.json", "bedrock/strands-snapshot.json", "gemini/request-and-response.json"),
            *("langgraph/checkpoint.json", "dspy/react.json", "vercel/steps.json"),
        )
    },
}
FAILED: list[dict[str, Any]] = [
    {"status": "error"},
    {"status": "Failed"},
    {"error": "Traceback"},
    {"error": {"type": "RuntimeError", "message": "boom"}},
    {"exit_code": 1},
    {"returncode": -9, "error": "killed"},
    {"exception": "RuntimeError: boom"},
    {"is_error": True},
    {"error": True},
]
CUT: list[dict[str, Any]] = [{"status": "Cancelled"}, {"status": "timeout"}, {"status": "running"}]
WELL: list[dict[str, Any]] = [
    {"status": "completed", "error": None, "exit_code": 0},
    {"error": ""},
    {"error": {}},
    {"status": {"code": 1}, "exit_code": True},
    {"status": "idle", "is_error": False, "exception": None},
    {"success": False},
]
REFUSED = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}
THROTTLED = {"Error": {"Code": "ThrottlingException", "Message": "slow down"}}
UNANSWERED: dict[str, dict[str, Any]] = {
    "openai-chat": {"messages": [USER, ANSWER], "response": REFUSED},
    "anthropic": {**anthropic("end_turn"), "response": {"type": "error", "error": {"type": "overloaded_error"}}},
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "Hm."}]}],
        "response": REFUSED,
    },
    "bedrock": {
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "assistant", "content": [{"text": "Hm."}]},
        ],
        "response": THROTTLED,
    },
}
THREAD = {
    "thread_id": "t",
    "created_at": "2026-11-28T10:00:00Z",
    "values": {"messages": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "Hm."}]},
}


@pytest.mark.parametrize("form", BESIDE)
def test_fields_beside_the_messages_say_that_the_run_failed(form: str) -> None:
    for fields in (*FAILED, *CUT, *WELL):
        (found,) = read(json.dumps({**BESIDE[form], **fields}).encode())
        assert isinstance(found, Trace), found
        assert found.status == (ERROR if fields in FAILED else INCOMPLETE if fields in CUT else OK), fields


@pytest.mark.parametrize("form", UNANSWERED)
def test_an_error_in_place_of_the_response_is_a_failed_model_call(form: str) -> None:
    (found,) = read(json.dumps(UNANSWERED[form]).encode())
    assert isinstance(found, Trace), found
    assert (found.status, found.llm_calls[-1]["error"]["type"]) == (
        ERROR,
        {"anthropic": "overloaded_error", "bedrock": "ThrottlingException"}.get(form, "RESOURCE_EXHAUSTED"),
    )


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("idle", (OK, None)),
        ("error", (ERROR, None)),
        ("busy", (INCOMPLETE, None)),
        ("interrupted", (INCOMPLETE, "a wait for a person")),
    ],
)
def test_a_thread_of_langgraphs_server_has_a_status(status: str, expected: tuple[str, str | None]) -> None:
    (found,) = read(json.dumps({**THREAD, "status": status}).encode())
    assert isinstance(found, Trace), found
    assert (found.status, found.stopped_by) == expected


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.name)
def test_a_field_that_says_how_the_run_ended_is_read(end: End) -> None:
    content = end.document if isinstance(end.document, str) else json.dumps(end.document)
    (found,) = read(content.encode())
    assert isinstance(found, Trace), found
    assert (found.status, found.stopped_by) == (end.status, end.stopped_by)
    assert end.message is None or (found.error is not None and found.error["message"] == end.message)
    assert ("calls" in found.gaps) is (end.status == INCOMPLETE and end.stopped_by is None)
