"""A conversation of which the provider keeps a part is no complete evidence of calls."""

from __future__ import annotations

import json
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


TEXTS = ("And now refund it.", "Your refund is issued.")
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": TEXTS[0],
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": TEXTS[1],
}
GENAI = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": TEXTS[0]}]}]),
    "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": TEXTS[1]}]}]),
}
MLFLOW = {
    "mlflow.spanType": '"CHAT_MODEL"',
    "mlflow.spanInputs": json.dumps({"input": TEXTS[0], "previous_response_id": "resp_1"}),
    "mlflow.spanOutputs": json.dumps(answer(2, SAID)),
}


def spans(*attributes: dict[str, str], failed: int | None = None) -> dict[str, Any]:
    """Spans of model calls in OTLP, of which one may have failed."""

    def listed(values: dict[str, str]) -> list[Any]:
        return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]

    found = []
    for number, each in enumerate(attributes):
        times = {"startTimeUnixNano": f"179000000{number}000000000", "endTimeUnixNano": f"179000000{number}500000000"}
        span = {"traceId": "a" * 32, "spanId": f"{number + 1:016x}", "name": "call", **times}
        found.append({**span, "attributes": listed(each), "status": {"code": 2 if number == failed else 0}})
    resource = {"attributes": listed({"evalgate.scenario.id": "refund"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": found}]}]}


def invoke(**settings: Any) -> dict[str, str]:
    """A model call as OpenInference records it."""
    return {**OPENINFERENCE, "llm.invocation_parameters": json.dumps({"model": "gpt-5", **settings})}


def sdk(*data: dict[str, Any]) -> str:
    """The spans of a run of the Agents SDK."""
    lines: list[dict[str, Any]] = [{"object": "trace", "id": "t", "metadata": {"evalgate.scenario.id": "refund"}}]
    for number, each in enumerate(data):
        at = {"started_at": f"2026-11-28T10:00:0{number}Z", "ended_at": f"2026-11-28T10:00:0{number}Z"}
        lines.append({"object": "trace.span", "id": f"s{number}", "trace_id": "t", "span_data": each, **at})
    return "\n".join(map(json.dumps, lines))


def dspy(*answers: dict[str, Any]) -> dict[str, Any]:
    """A history of DSPy, which has the settings of a request beside what was answered."""
    history = []
    for each in answers:
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        entry = {"prompt": None, "messages": [USER], "outputs": [TEXTS[1]], "usage": usage, "model": "openai/gpt-5"}
        entry |= {"cost": 0.1, "timestamp": "2026-11-28T10:00:00", "uuid": each["id"]}
        history.append(
            {**entry, "kwargs": {"previous_response_id": each["previous_response_id"]}, "response": {"id": each["id"]}}
        )
    return {"scenario_id": "refund", "history": history}


def vercel(*previous: str | None, first: int = 1, **settings: Any) -> dict[str, Any]:
    """The steps of a result of the Vercel AI SDK, each with the body of its request."""
    steps = []
    for number, each in enumerate(previous, start=first):
        body = json.dumps({"model": "gpt-5", "previous_response_id": each})
        step = {"text": TEXTS[1], "finishReason": "stop", "request": {"body": body}}
        steps.append({**step, "response": {"id": f"resp_{number}", "modelId": "gpt-5"}})
    return {"scenario_id": "refund", "prompt": TEXTS[0], "steps": steps, "text": TEXTS[1], **settings}


def promptfoo(previous: str | None) -> dict[str, Any]:
    """A result of promptfoo with the raw response."""
    raw = json.dumps(answer(2, SAID, previous=previous))
    about = {"id": "r", "testIdx": 0, "promptIdx": 0, "provider": {"id": "openai:responses:gpt-5"}, "success": True}
    about |= {"prompt": {"raw": TEXTS[0], "label": "p"}, "testCase": {"metadata": {"evalgate.scenario.id": "refund"}}}
    result = {**about, "response": {"output": TEXTS[1], "raw": raw}, "vars": {}, "namedScores": {}, "score": 1}
    return {"evalId": "e", "results": {"version": 3, "prompts": [], "results": [result], "stats": {}}, "config": {}}


RESPONSE = {"type": "response", "input": [USER], "output": [SAID]}
LAST_RESPONSE = {**RESPONSE, "response_id": "resp_2", "response": answer(2, SAID, previous="resp_1")}
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
GOES_ON = "goes on with ` resp_1 `"
WITHOUT_CALLS: dict[str, Any] = {
    "OpenInference": spans(invoke(previous_response_id="resp_1")),
    "OpenInference's output": spans({**invoke(), "output.value": json.dumps(answer(2, SAID, previous="resp_1"))}),
    "OpenInference, after a failed call": spans(invoke(), invoke(previous_response_id="resp_1"), failed=0),
    **{
        f"an attribute {name}": spans({**GENAI, "gen_ai.response.id": "resp_2", name: "resp_1"})
        for name in (
            "openai.request.previous_response_id",
            "gen_ai.openai.request.previous_response_id",
            "gen_ai.request.previous_response_id",
        )
    },
    "the request of Logfire": spans({**GENAI, "request_data": json.dumps({"previous_response_id": "resp_1"})}),
    "MLflow's inputs": spans(MLFLOW),
    "a span of the Agents SDK": sdk(LAST_RESPONSE),
    "DSPy": dspy(answer(2, previous="resp_1")),
    "a step of Vercel": vercel("resp_1", first=2),
    "a setting of Vercel": vercel(None, first=2, providerOptions={"openai": {"previousResponseId": "resp_1"}}),
    "promptfoo": promptfoo("resp_1"),
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
WHOLE_WITHOUT_CALLS: dict[str, Any] = {
    "no previous response": spans(invoke(previous_response_id=None)),
    "an answer of the same trace": spans(
        {**invoke(), "output.value": json.dumps(answer(1, SAID))}, invoke(previous_response_id="resp_1")
    ),
    "an answer without an id": spans(invoke(), invoke(previous_response_id="resp_1")),
    "an answer of GenAI": spans({**GENAI, "gen_ai.response.id": "resp_1"}, invoke(previous_response_id="resp_1")),
    "metadata of a user": spans({**invoke(), "metadata": json.dumps({"conversation": "conv_7"})}),
    "the name of a conversation": spans({**GENAI, "gen_ai.conversation.id": "conv_1"}),
    "an answer of the Agents SDK": sdk({**RESPONSE, "response_id": "resp_1"}, LAST_RESPONSE),
    "an answer of DSPy": dspy(answer(1), answer(2, previous="resp_1")),
    "a step of Vercel": vercel(None, "resp_1"),
    "promptfoo": promptfoo(None),
}


@pytest.mark.parametrize("name", WITHOUT_CALLS)
def test_what_a_request_goes_on_with_is_missing_in_every_format(tmp_path: Path, name: str) -> None:
    files = {SUITE: suite(check("forbidden_tools", tools=["delete_*"])), "traces/run.jsonl": WITHOUT_CALLS[name]}
    case = Case(name, files, FAILED, ["missing evidence (calls)", GOES_ON])

    assert case.find_faults(case.run(tmp_path)) == []


@pytest.mark.parametrize("name", WHOLE_WITHOUT_CALLS)
def test_what_a_request_goes_on_with_may_be_of_the_same_run(tmp_path: Path, name: str) -> None:
    files = {SUITE: suite(check("forbidden_tools", tools=["delete_*"])), "traces/run.jsonl": WHOLE_WITHOUT_CALLS[name]}
    case = Case(name, files, PASS)

    assert case.find_faults(case.run(tmp_path)) == []


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_the_provider_keeps_is_missing(tmp_path: Path, name: str) -> None:
    recording, says = ELSEWHERE[name]
    case = Case(name, {SUITE: NO_DELETE, "traces/refund.json": recording}, FAILED, ["missing evidence (calls)", says])

    assert case.find_faults(case.run(tmp_path)) == []


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_recorded_is_judged(tmp_path: Path, name: str) -> None:
    case = Case(name, {SUITE: NO_DELETE, "traces/refund.json": WHOLE[name]}, PASS)

    assert case.find_faults(case.run(tmp_path)) == []
