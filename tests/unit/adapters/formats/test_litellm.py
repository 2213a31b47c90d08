from __future__ import annotations

import copy

import orjson
import pytest
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.litellm import LITELLM
from evalgate.adapters.formats.litellm import reader as litellm
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "litellm"
SESSION = [orjson.loads(line) for line in (FOLDER / "session.jsonl").read_bytes().splitlines()]


def payload(number=0, **fields):
    return {**copy.deepcopy(SESSION[number]), **fields}


def read(*payloads):
    (record,) = litellm.split(list(payloads))
    return read_record(LITELLM.reader, record, TraceLocation("x.jsonl"), "x.jsonl")


def names(trace):
    return [call["name"] for call in trace.tool_calls]


def test_the_calls_of_a_session_are_one_run_in_order():
    trace = next(trace for trace in read_traces(FOLDER) if trace.scenario_id == "remove-user")
    assert [(c["name"], c["arguments"], c["status"], c["step"]) for c in trace.tool_calls] == [
        ("find_user", {"name": "Ada"}, "unknown", 1),
        ("delete_user", {"id": 7}, "unknown", 2),
        ("write_note", {"text": "removed 7"}, "missing", 3),
        ("send_mail", {"to": "ada@example.org"}, "unknown", 4),
    ]
    assert [message["role"] for message in trace.messages] == [
        *("system", "user", "assistant", "tool", "assistant", "tool", "assistant"),
    ]
    assert (trace.trial, trace.model, trace.provider, trace.tags) == (1, "gpt-4o-mini", "openai", ["nightly"])
    assert trace.response["content"] == "Ada is removed."
    assert (trace.cost["usd"], trace.latency["total_ms"]) == (0.005, 5000.0)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (490, 37)
    assert [tool["name"] for tool in trace.tool_definitions] == ["delete_user"]
    assert [call["step"] for call in trace.llm_calls] == [1, 2, 3, 4]
    assert trace.gaps == {}


def test_a_failed_model_call_is_an_error():
    trace = next(trace for trace in read_traces(FOLDER) if trace.scenario_id == "limited")
    assert trace.status == "error"
    assert trace.error == {"type": "RateLimitError", "message": "litellm.RateLimitError: try later"}
    assert trace.usage["total_tokens"] is None


@pytest.mark.parametrize("value", [SESSION[0], SESSION, {"model": "m", "standard_logging_object": SESSION[0]}])
def test_payloads_are_detected(value):
    assert detect.detect_format([value]).name == "litellm"
    assert names(read(value)) in ([*names(read(*SESSION))], ["find_user"])


def test_a_damaged_run_keeps_its_scenario():
    assert litellm.identify([payload(messages=[5])]) == ("remove-user", 1)
    assert litellm.identify([5]) == (None, None)
    with pytest.raises(TraceError, match="messages are not of a known form"):
        litellm.build([payload(messages=[5])])
    with pytest.raises(TraceError, match="is not the log of a model call"):
        litellm.build([SESSION[0], {"x": 1}])
