from __future__ import annotations

import copy

import orjson
import pytest
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.ragas import RAGAS
from evalgate.adapters.formats.ragas import reader as ragas
from evalgate.models.trace.trace import TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "ragas"
AGENT = orjson.loads((FOLDER / "agent.jsonl").read_bytes())
RAG = orjson.loads((FOLDER / "rag.json").read_bytes())
COLUMNS = {key: {"0": RAG[0][key], "1": RAG[1][key]} for key in RAG[0]}


def read(sample, **fields):
    (record,) = ragas.split([{**copy.deepcopy(sample), **fields}])
    return read_record(RAGAS.reader, record, TraceLocation("x.jsonl"), "x.jsonl")


def test_a_sample_of_several_turns_has_its_calls():
    trace = next(trace for trace in read_traces(FOLDER) if trace.scenario_id == "remove-ada")
    assert [(c["name"], c["arguments"], c["result_text"], c["status"]) for c in trace.tool_calls] == [
        ("find_user", {"name": "Ada"}, '{"id": 7}', "unknown"),
        ("delete_user", {"id": 7}, "deleted", "unknown"),
    ]
    assert trace.response["content"] == "Ada is removed."
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (210, 30)
    assert (trace.cost["usd"], trace.latency["total_ms"], trace.model) == (0.003, 1500.0, "gpt-4o-mini")
    assert {score["name"]: score["score_value"] for score in trace.evaluations} == {
        "tool_call_accuracy": 0.5,
        "agent_goal_accuracy": 1.0,
    }
    assert trace.gaps == {}


def test_a_sample_of_one_turn_says_nothing_about_calls():
    first, second = (trace for trace in read_traces(FOLDER) if trace.scenario_id != "remove-ada")
    assert [message["content"] for message in first.messages] == ["Where is order 42?", "It was sent on Monday."]
    assert [(score["name"], score["score_value"]) for score in second.evaluations] == [("answer_relevancy", 0.1)]
    assert "MultiTurnSample" in first.gaps["calls"]
    assert first.scenario_id != second.scenario_id


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (AGENT, 1),
        ([AGENT], 1),
        (RAG, 2),
        (COLUMNS, 2),
        ({"samples": RAG}, 2),
        ({"dataset": RAG, "scores": [{"faithfulness": 0.4}, {"faithfulness": 0.6}]}, 2),
    ],
)
def test_data_sets_are_detected(value, size):
    assert detect.detect_format([value]).name == "ragas"
    records = ragas.split(value)
    assert len(records) == size
    for record in records:
        assert isinstance(read(record).trace_id, str)
