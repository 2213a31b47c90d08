from __future__ import annotations

import json

import pytest
from fakes.files import MemoryFiles

from evalgate.adapters.formats.adk import ADK_EVAL, evals
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.errors import TraceError

START = 1_767_600_000.0


def event(author, second, **part):
    return {"invocationId": "i", "author": author, "timestamp": START + second, "content": {"parts": [part]}}


SESSION = {
    "id": "s-1",
    "appName": "shop",
    "events": [
        event("user", 0, text="Is the lamp on?"),
        event("root", 0.001, functionCall={"name": "status", "args": {"lamp": "a"}}),
        event("root", 1, functionResponse={"name": "status", "response": {"result": "on"}}),
        event("root", 1.001, text="It is."),
    ],
}
INVOCATION = {
    "user_content": {"role": "user", "parts": [{"text": "Is the lamp on?"}]},
    "final_response": {"role": "model", "parts": [{"text": "Yes."}]},
    "intermediate_data": {"tool_uses": [{"name": "status", "args": {}}]},
}
METRIC = {"metric_name": "tool_trajectory_avg_score", "threshold": 1.0, "score": 0.5, "eval_status": 2}


def case(**fields):
    return {
        "eval_set_id": "lamps",
        "eval_id": "lamp",
        "final_eval_status": 2,
        "overall_eval_metric_results": [METRIC],
        "eval_metric_result_per_invocation": [
            {"actual_invocation": INVOCATION, "expected_invocation": None, "eval_metric_results": []}
        ],
        "session_id": "s-1",
        "session_details": SESSION,
        **fields,
    }


def result(*cases):
    return {"eval_set_result_id": "r", "eval_set_id": "lamps", "eval_case_results": list(cases)}


def test_a_case_is_a_scenario_with_its_session_and_scores():
    trace = evals.build(case())
    assert (trace.scenario_id, trace.trial, trace.trace_id) == ("lamp", None, "s-1")
    assert [(c["name"], c["result"]) for c in trace.tool_calls] == [("status", "on")]
    assert trace.response["content"] == "It is."
    assert [(e["name"], e["score_value"], e["score_label"]) for e in trace.evaluations] == [
        ("tool_trajectory_avg_score", 0.5, "failed")
    ]
    assert trace.metadata["eval_set_id"] == "lamps"
    assert evals.READER.identify(case()) == ("lamp", None)


def test_a_case_without_its_session_is_read_by_what_was_kept():
    trace = evals.build(case(session_details=None))
    assert [m["role"] for m in trace.messages] == ["user", "assistant", "assistant"]
    assert (trace.response["content"], trace.tool_calls[0]["status"]) == ("Yes.", "missing")
    assert "expected" not in trace.metadata


def test_expected_events_are_never_read_as_done():
    judged = [{"actual_invocation": None, "expected_invocation": INVOCATION}]
    with pytest.raises(TraceError, match="actual_invocation is missing"):
        evals.build(case(session_details=None, eval_metric_result_per_invocation=judged))


def test_a_measured_duration_takes_precedence_over_the_times_of_events():
    timed = [{"actual_invocation": {**INVOCATION, "duration": 1.25}}] * 2
    trace = evals.build(case(eval_metric_result_per_invocation=timed))
    assert (trace.latency, trace.warnings) == ({"total_ms": 2500.0, "source": "recorded"}, [])
    assert [w["code"] for w in evals.build(case()).warnings] == ["suspicious_latency"]


@pytest.mark.parametrize("is_text", [False, True])
def test_files_are_read_in_both_forms(is_text):
    content = json.dumps(result(case(), case(eval_id="other"), 3), separators=(",", ":"))
    content = json.dumps(content) if is_text else content
    records = list(TraceFiles(MemoryFiles({"t/a.json": content.encode()})).read(["t"], ""))
    assert [record.scenario_id for record in records] == ["lamp", "other", None]
    assert {record.source.format for record in records} == {"adk-eval"}
    assert records[2].reason == "is not an object"


@pytest.mark.parametrize("value", [None, 1, "x", '{"a": 1}', [], {}, {"eval_case_results": {}}])
def test_other_documents_are_not_claimed(value):
    assert not ADK_EVAL.claims(value)


def test_results_are_claimed_in_both_spellings():
    assert ADK_EVAL.claims(result())
    assert ADK_EVAL.claims({"evalCaseResults": []})
    assert ADK_EVAL.claims('{"evalSetResultId":"r"}')
