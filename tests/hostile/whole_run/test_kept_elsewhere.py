"""A conversation of which the provider keeps a part is no complete evidence of calls."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from hostile.whole_run.case import FAILED, PASS, SUITE, Case, check, suite

if TYPE_CHECKING:
    from pathlib import Path

NO_DELETE = suite(check("forbidden_tools", tools=["delete_*"]), check("tool_called", tool="issue_refund"))
USER = {"role": "user", "content": "Refund order A-7, please."}
CALL = {"type": "function_call", "id": "fc_2", "call_id": "c", "name": "issue_refund", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "done"}
SAID = {
    "type": "message",
    "id": "msg_3",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Your refund is issued."}],
}
COMPACTED = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
SUMMARY = {"type": "compaction", "content": "The order was looked up."}


def items(*added: Any, **fields: Any) -> dict[str, Any]:
    """A run as a list of items, with some after the question."""
    return {"scenario_id": "refund", "input": [USER, *added, CALL, RESULT, SAID], **fields}


def response(*output: Any, **fields: Any) -> dict[str, Any]:
    """A raw response with its input."""
    answer = {"object": "response", "id": "resp_2", "status": "completed", "output": [*output, SAID]}
    return {"scenario_id": "refund", "input": [USER, CALL, RESULT], **answer, **fields}


def state(**fields: Any) -> dict[str, Any]:
    """The saved state of a run of the Agents SDK."""
    kinds = {"function_call": "tool_call_item", "function_call_output": "tool_call_output_item"}
    found = [
        {"type": kinds.get(each["type"], "message_output_item"), "raw_item": each} for each in (CALL, RESULT, SAID)
    ]
    return {
        "$schemaVersion": "1.0",
        "current_turn": 1,
        "current_agent": {"name": "main"},
        "original_input": [USER],
        "model_responses": [{"response_id": "resp_1", "output": [], "usage": {}}],
        "generated_items": found,
        "current_step": {"type": "next_step_final_output"},
        "trace": {"metadata": {"evalgate.scenario.id": "refund"}},
        **fields,
    }


def messages(*before: Any, after: Any = (), **fields: Any) -> dict[str, Any]:
    """A conversation with Anthropic's API."""
    request = {"type": "tool_use", "id": "c", "name": "issue_refund", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "done"}
    said = [
        {"role": "assistant", "content": [request]},
        {"role": "user", "content": [result]},
        *after,
        {"role": "assistant", "content": [{"type": "text", "text": "Your refund is issued."}]},
    ]
    return {"scenario_id": "refund", "messages": [USER, *before, *said], **fields}


def cleared(number: int) -> dict[str, Any]:
    """An answer before which the provider left out calls and their results."""
    edit = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": number, "cleared_input_tokens": 9}
    answer = {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "text", "text": "Done."}]}
    return {"response": {**answer, "context_management": {"applied_edits": [edit]}}}


def answer(number: int, *output: Any, previous: str | None = None, **fields: Any) -> dict[str, Any]:
    """A response as logs keep it."""
    made = {"object": "response", "id": f"resp_{number}", "status": "completed", "model": "gpt-5", "output": [*output]}
    return {**made, "previous_response_id": previous, **fields}


def litellm(*answers: dict[str, Any], **settings: Any) -> list[dict[str, Any]]:
    """LiteLLM's log of model calls, the first with the question and the others with results."""
    found = []
    for number, each in enumerate(answers):
        call = {"call_type": "aresponses", "status": "success", "custom_llm_provider": "openai", "model": "gpt-5"}
        call |= {"startTime": 1790000000 + number, "endTime": 1790000001 + number, "response_cost": 0.01}
        call |= {
            "id": f"log_{number}",
            "trace_id": "run",
            "prompt_tokens": 9,
            "completion_tokens": 9,
            "total_tokens": 18,
        }
        call |= {"metadata": {"requester_metadata": {"evalgate.scenario.id": "refund"}}, "model_parameters": settings}
        found.append({**call, "messages": [RESULT] if number else [USER], "response": each})
    return found


def langsmith(*answers: dict[str, Any], **settings: Any) -> list[dict[str, Any]]:
    """The runs that LangSmith's SDK writes for calls of the Responses API."""
    metadata = {"evalgate.scenario.id": "refund"}
    times = [{"start_time": f"2026-11-20T22:41:0{at}", "end_time": f"2026-11-20T22:41:0{at + 1}"} for at in range(4)]
    root = {"id": "r", "trace_id": "r", "name": "Helper", "run_type": "chain", "inputs": {}, "outputs": {}}
    runs: list[dict[str, Any]] = [
        {**root, **times[0], "end_time": "2026-11-20T22:41:09", "extra": {"metadata": metadata}}
    ]
    for number, each in enumerate(answers):
        asked = {"input": [RESULT] if number else [USER], **settings}
        own = {"id": f"m{number}", "trace_id": "r", "parent_run_id": "r", "name": "OpenAI", "run_type": "llm"}
        runs.append({**own, **times[number], "inputs": asked, "outputs": each})
    return runs


def langfuse(*answers: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """The export of a trace of Langfuse with a generation for each call."""
    rows = []
    for number, each in enumerate(answers):
        times = {"startTime": f"2026-11-20T22:41:0{number}.000Z", "endTime": f"2026-11-20T22:41:0{number}.500Z"}
        row = {"id": f"g{number}", "traceId": "t1", "type": "GENERATION", "name": "OpenAI", "level": "DEFAULT", **times}
        rows.append({**row, "input": [RESULT] if number else [USER], "output": each, "modelParameters": settings})
    head = {"id": "t1", "name": "Helper", "timestamp": "2026-11-20T22:41:00.000Z"}
    return {"trace": {**head, "metadata": {"evalgate.scenario.id": "refund"}}, "observations": rows}


LOGS = {"LiteLLM": litellm, "LangSmith": langsmith, "Langfuse": langfuse}
FIRST, LAST = answer(1, CALL), answer(2, SAID, previous="resp_1")
WRAPPED = f"resp_{b64encode(b'litellm:custom_llm_provider:openai;model_id:m;response_id:resp_1').decode()}"
"""The id that LiteLLM gives to a response with the id resp_1."""
ELSEWHERE: dict[str, tuple[dict[str, Any], str]] = {
    "compaction": (items(COMPACTED), "stands for earlier items"),
    "context compaction": (items({**COMPACTED, "type": "context_compaction"}), "stands for earlier items"),
    "compaction beside messages": (items(SAID, USER, COMPACTED), "stands for earlier items"),
    "compaction in an output alone": (response(COMPACTED, CALL, RESULT, input=None), "stands for earlier items"),
    "reference": (items({"type": "item_reference", "id": "fc_1"}), "refers to ` fc_1 `"),
    "reference without id": (items({"type": "item_reference"}), "refers to ` no id `"),
    "previous response": (items(previous_response_id="resp_1"), "goes on with ` resp_1 `"),
    "previous of the response": (response(previous_response_id="resp_1"), "goes on with ` resp_1 `"),
    "previous of a nested response": (
        items(response={"object": "response", "id": "r", "previous_response_id": "resp_1"}),
        "goes on with ` resp_1 `",
    ),
    "conversation": (response(conversation={"id": "conv_1"}), "is one of ` conv_1 `"),
    "conversation by its id": (items(conversation="conv_1"), "is one of ` conv_1 `"),
    "previous of a state": (state(previous_response_id="resp_0"), "goes on with ` resp_0 `"),
    "compaction of a state": (state(original_input=[USER, COMPACTED]), "stands for earlier items"),
    "compaction of Anthropic": (messages({"role": "assistant", "content": [SUMMARY]}), "stands for earlier"),
    "more calls cleared than recorded": (messages(**cleared(4)), "cleared 4 calls"),
}
for _log, _build in LOGS.items():
    ELSEWHERE |= {
        f"previous of {_log}": (_build(answer(1, CALL, previous="resp_0"), LAST), "goes on with ` resp_0 `"),
        f"previous in the request of {_log}": (
            _build(FIRST, LAST, previous_response_id="resp_0"),
            "goes on with ` resp_0 `",
        ),
        f"conversation of {_log}": (
            _build(answer(1, CALL, conversation={"id": "conv_1"}), LAST),
            "is one of ` conv_1 `",
        ),
    }
WHOLE = {
    **{f"previous of {log}, which it has": build(FIRST, LAST) for log, build in LOGS.items()},
    "previous of LiteLLM by the provider's own id": litellm({**FIRST, "id": WRAPPED}, LAST),
    "compaction after calls": items(CALL, RESULT, COMPACTED),
    "compaction of an output": response(COMPACTED),
    "compaction of an output, after a text": response(COMPACTED, CALL, RESULT, input="Refund order A-7, please."),
    "reference to an item": items({**CALL, "id": "fc_1"}, RESULT, {"type": "item_reference", "id": "fc_1"}),
    "reference to reasoning": items({"type": "item_reference", "id": "rs_1"}),
    "no previous response": response(previous_response_id=None, conversation=None),
    "a conversation of another kind": items(conversation="about refunds"),
    "previous of a state, which it has": state(previous_response_id="resp_1"),
    "compaction of Anthropic, after calls": messages(after=[{"role": "assistant", "content": [SUMMARY]}]),
    "calls cleared that are recorded": messages(**cleared(1)),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_the_provider_keeps_is_missing(tmp_path: Path, name: str) -> None:
    recording, says = ELSEWHERE[name]
    case = Case(name, {SUITE: NO_DELETE, "traces/refund.json": recording}, FAILED, ["missing evidence (calls)", says])

    assert case.find_faults(case.run(tmp_path)) == []


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_recorded_is_judged(tmp_path: Path, name: str) -> None:
    case = Case(name, {SUITE: NO_DELETE, "traces/refund.json": WHOLE[name]}, PASS)

    assert case.find_faults(case.run(tmp_path)) == []
