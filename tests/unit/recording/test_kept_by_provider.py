"""What OpenAI's Responses API keeps of a conversation is recorded with the response that made it, or it is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_cassettes import TRIAL, exchange

from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.models.exchange import Exchange, ProviderAnswer, ProviderRequest
from evalgate.features.record.models.run import ProcessRun

USER = {"role": "user", "content": "Refund order A-7, please."}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "issue_refund", "arguments": "{}"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "done"}
COMPACTED = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
CONVERSATION = ("conversations", {}, {"id": "conv_1", "object": "conversation"})

Step = tuple[str, dict[str, Any], dict[str, Any]]


def responses(given: list[Any], output: list[Any], number: int, **fields: Any) -> Step:
    """A request to the Responses API and its answer."""
    answer = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": output}
    return "responses", {"model": "m", "input": given, **fields}, answer


def send(step: Step, number: int) -> Exchange:
    path, body, answer = step
    request = ProviderRequest("openai", "POST", f"/{path}", "application/json", json.dumps(body).encode())
    given = ProviderAnswer(200, "application/json", [(1.0, json.dumps(answer).encode())])
    return exchange(request, given, 1_767_225_600.0 + number)


def trace_of(*steps: Step) -> Any:
    return build_trace([send(step, number) for number, step in enumerate(steps)], ProcessRun(TRIAL, "t"))


FIRST = responses([USER], [THOUGHT, CALL], 1)
REFERENCES = [{"type": "item_reference", "id": name} for name in ("rs_1", "fc_1")]
WHOLE = {
    "previous response": (FIRST, responses([RESULT], [SAID], 2, previous_response_id="resp_1")),
    "references": (FIRST, responses([USER, *REFERENCES, RESULT], [SAID], 2)),
    "conversation": (
        CONVERSATION,
        responses([USER], [CALL], 1, conversation="conv_1"),
        responses([RESULT], [SAID], 2, conversation={"id": "conv_1"}),
    ),
    "compaction": (
        FIRST,
        responses([USER, CALL, RESULT], [COMPACTED, SAID], 2),
        responses([USER, COMPACTED, SAID, {"role": "user", "content": "Thanks."}], [{**SAID, "id": "msg_2"}], 3),
    ),
    "compact request": (
        FIRST,
        (
            "responses/compact",
            {"input": [USER, CALL, RESULT]},
            {"object": "response.compaction", "output": [COMPACTED]},
        ),
        responses([USER, COMPACTED], [SAID], 2),
    ),
}
ELSEWHERE = {
    "previous response": responses([USER], [SAID], 2, previous_response_id="resp_1"),
    "reference": responses([USER, REFERENCES[1]], [SAID], 2),
    "conversation": responses([USER], [SAID], 1, conversation="conv_1"),
    "compaction": responses([USER, COMPACTED], [SAID], 2),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_was_recorded_is_joined(name: str) -> None:
    trace = trace_of(*WHOLE[name])

    assert "calls" not in trace.gaps
    assert [(call["name"], call["actor"]) for call in trace.tool_calls] == [("issue_refund", "root")]


@pytest.mark.parametrize("name", ["previous response", "references", "conversation"])
def test_the_conversation_is_whole(name: str) -> None:
    trace = trace_of(*WHOLE[name])

    assert trace.gaps == {}
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert trace.tool_calls[0]["result_text"] == "done"


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_was_not_recorded_is_missing(name: str) -> None:
    trace = trace_of(ELSEWHERE[name])

    assert trace.gaps.keys() == {"calls", "messages"}
    assert "its calls are not in this trace" in trace.gaps["calls"]
