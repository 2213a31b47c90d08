"""A run whose last answer failed, was filtered or interrupted says so, in every format that records why an answer ended."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from span_builders import agent, chat, genai_message, span

from evalgate.adapters.formats.spans.assemble import build
from evalgate.models.trace.trace import Trace
from hostile.recorded_calls import read
from hostile.suite_edits import suite, write
from hostile.whole_run.executed_calls import adk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Record = "Callable[[str], Any]"
USER = {"role": "user", "content": "Refund order 7, please."}


def vercel(reason: str) -> Any:
    return {
        "prompt": "hi",
        "steps": [{"text": "Refunded.", "toolCalls": [], "finishReason": reason}],
        "text": "Refunded.",
    }


def openai_chat(reason: str) -> Any:
    answer = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": "Refunded."}}
    response = {"id": "r", "object": "chat.completion", "model": "m", "choices": [answer]}
    return {"messages": [USER], "response": response}


def gemini(reason: str) -> Any:
    content = {"role": "model", "parts": [{"text": "Refunded."}]}
    question = [{"role": "user", "parts": [{"text": "hi"}]}]
    response = {"candidates": [{"content": content, "finishReason": reason}], "modelVersion": "gemini-3"}
    return {"contents": question, "response": response}


def pydantic_ai(reason: str) -> Any:
    parts = [{"part_kind": "text", "content": "Refunded."}]
    return [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]},
        {"kind": "response", "parts": parts, "model_name": "m", "finish_reason": reason},
    ]


def anthropic(reason: str) -> Any:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "order 7"}}
    content = [search, {"type": "text", "text": "Refunded."}]
    return {"messages": [USER, {"role": "assistant", "content": content, "stop_reason": reason}]}


def native(reason: str) -> Any:
    answer = {"role": "assistant", "content": "Refunded.", "finish_reason": reason}
    return {"schema": "evalgate.trace/1", "messages": [USER, answer]}


def of_adk(reason: str) -> Any:
    record = adk("look")
    record["events"][-1]["finish_reason"] = reason
    return record


def spans(attribute: str, attributes: dict[str, Any]) -> Callable[[str], Any]:
    """A run with one model call in some dialect, whose answer ended for a reason."""

    def record(reason: str) -> Any:
        listed = [
            {"key": key, "value": {"stringValue": text}} for key, text in {**attributes, attribute: reason}.items()
        ]
        times = {"startTimeUnixNano": "1760000000000000000", "endTimeUnixNano": "1760000001000000000"}
        one = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "llm", **times, "attributes": listed}
        return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "x"}, "spans": [one]}]}]}

    return record


ANSWERED = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Refunded."}]}])
RECORDS: dict[str, Callable[[str], Any]] = {
    "vercel": vercel,
    "openai-chat": openai_chat,
    "gemini": gemini,
    "pydantic-ai": pydantic_ai,
    "native": native,
    "adk": of_adk,
    "spans of vercel": spans(
        "ai.response.finishReason", {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": "Refunded."}
    ),
    "spans of genai": spans(
        "gen_ai.response.finish_reasons", {"gen_ai.operation.name": "chat", "gen_ai.output.messages": ANSWERED}
    ),
    "spans of openinference": spans(
        "llm.finish_reason", {"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": "Refunded."}
    ),
}
FILTERS = ["content_filter", "content-filter", "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "guardrail_intervened"]
ERRORS = ["error", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]


def load(document: Any) -> Trace:
    (found,) = read(json.dumps(document).encode())
    assert isinstance(found, Trace), found
    return found


@pytest.mark.parametrize("form", RECORDS)
def test_an_answer_that_ended_in_an_error_is_a_failed_run(form: str) -> None:
    for reason in ERRORS:
        found = load(RECORDS[form](reason))
        assert (found.status, found.error) == (
            "error",
            {"type": "error", "message": "the model's last answer ended in an error"},
        )


@pytest.mark.parametrize("form", RECORDS)
def test_an_answer_that_was_filtered_stopped_the_run(form: str) -> None:
    for reason in FILTERS:
        found = load(RECORDS[form](reason))
        assert (found.status, found.stopped_by) == ("incomplete", "a filter of content")
        assert form == "gemini" or not found.gaps  # what a withheld answer would have called is unknown there


@pytest.mark.parametrize("form", RECORDS)
@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_an_answer_that_was_cut_stopped_the_run(form: str, reason: str) -> None:
    found = load(RECORDS[form](reason))
    assert (found.status, found.stopped_by) == ("incomplete", "the limit of length")
    assert form == "gemini" or not found.gaps  # `length` is no word of Gemini's


@pytest.mark.parametrize("form", [*RECORDS, "anthropic"])
@pytest.mark.parametrize("reason", ["pause_turn", "compaction"])
def test_an_answer_that_only_paused_is_no_end(form: str, reason: str) -> None:
    found = load(anthropic(reason) if form == "anthropic" else RECORDS[form](reason))
    assert (found.status, found.stopped_by) == ("incomplete", None)
    assert {"calls", "messages"} <= found.gaps.keys()


def test_a_paused_answer_that_another_follows_is_no_pause() -> None:
    record = anthropic("pause_turn")
    record["messages"].append({**record["messages"][-1], "stop_reason": "end_turn"})
    assert (load(record).status, load(record).gaps) == ("ok", {})


@pytest.mark.parametrize("form", RECORDS)
@pytest.mark.parametrize("reason", ["stop", "end_turn", "other", "unknown"])
def test_any_other_end_is_ok(form: str, reason: str) -> None:
    assert (load(RECORDS[form](reason)).status, load(RECORDS[form](reason)).stopped_by) == ("ok", None)


@pytest.mark.parametrize("form", ["vercel", "openai-chat", "pydantic-ai", "native"])
@pytest.mark.parametrize("reason", ["other", "unknown", "stop"])
def test_an_empty_answer_without_a_reason_broke_off(form: str, reason: str) -> None:
    record = json.loads(json.dumps(RECORDS[form](reason)).replace("Refunded.", ""))
    assert load(record).status == ("ok" if reason == "stop" else "incomplete")


def test_a_failed_answer_that_another_follows_is_no_end() -> None:
    record = vercel("error")
    record["steps"].append(deepcopy(vercel("stop")["steps"][0]))
    assert load(record).status == "ok"


@pytest.mark.parametrize(("field", "says"), [("interrupted", "was interrupted"), ("partial", "is only a part of one")])
def test_an_adk_session_without_its_end_is_incomplete(field: str, says: str) -> None:
    record = adk("look")
    record["events"][-1][field] = True
    found = load(record)
    assert found.status == "incomplete"
    assert found.gaps["calls"].startswith(f"the last answer {says}; ")
    record["events"].append({**record["events"][-1], field: False})
    assert (load(record).status, load(record).gaps) == ("ok", {})


@pytest.mark.parametrize(
    ("reason", "status", "stopped_by"),
    [
        ("Maximum number of messages 10 reached, current message count: 10", "incomplete", "the limit of turns"),
        ("Token usage limit reached, total token count: 10", "incomplete", "the limit of cost"),
        ("Timeout of 60 seconds reached", "incomplete", "the limit of time"),
        ("External termination requested", "incomplete", None),
        ("Text 'TERMINATE' mentioned", "ok", None),
    ],
)
def test_a_stop_reason_of_autogen_says_how_the_run_ended(reason: str, status: str, stopped_by: str | None) -> None:
    messages = [
        {"source": "user", "type": "TextMessage", "content": "hi", "models_usage": None},
        {"source": "helper", "type": "TextMessage", "content": "done", "models_usage": None},
    ]
    found = load({"messages": messages, "stop_reason": reason})
    assert (found.status, found.stopped_by) == (status, stopped_by)
    assert bool(found.gaps) is (status == "incomplete" and stopped_by is None)


def test_the_type_of_an_error_says_that_an_agent_failed() -> None:
    answer = genai_message("assistant", "Refunded.", finish="stop")
    failed = agent(0, 90, **{"error.type": "ValueError"})
    found = build([failed, chat(0, 1, answered=[answer], parent=failed)])
    assert (found.status, found.error) == ("error", {"type": "ValueError", "message": None})
    below = span("GET /", 2, 3, attributes={"error.type": "500"})
    root = agent(0, 90)
    below.parent_id = root.span_id
    assert build([root, chat(0, 1, answered=[answer], parent=root), below]).status == "ok"


@pytest.mark.parametrize(("reason", "code"), [("stop", 0), ("error", 1), ("content-filter", 0)])
def test_the_gate_judges_the_end(tmp_path: Path, reason: str, code: int) -> None:
    check = {"type": "output_contains", "value": "Refunded", "required": True}
    write(tmp_path, {"evals/s.yaml": suite(check), "traces/refund.json": vercel(reason)})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == code
    assert ("a filter of content" in ran.text("comment.md")) is (reason == "content-filter")
