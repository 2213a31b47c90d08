from __future__ import annotations

import json

import pytest
from damage import damage_document
from fakes.files import MemoryFiles
from hypothesis import given

from evalgate.adapters.formats.adk import ADK_EVALSET
from evalgate.adapters.formats.adk.evals import expected_traces
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace


def content(role, words):
    return {"role": role, "parts": [{"text": words, "function_call": None}]}


CASE = {
    "eval_id": "lamp",
    "conversation": [
        {
            "invocation_id": "i",
            "user_content": content("user", "Turn the lamp off."),
            "final_response": content("model", "It is off."),
            "intermediate_data": {
                "tool_uses": [
                    {"id": None, "name": "find", "args": {"kind": "lamp"}},
                    {"id": "c", "name": "switch", "args": {"on": False}},
                ],
                "tool_responses": [{"id": "c", "name": "switch", "response": {"result": "off"}}],
                "intermediate_responses": [["root", [{"text": "One moment."}]]],
            },
        },
        {"user_content": content("user", "Thanks"), "final_response": content("model", "Bye.")},
    ],
}
SET = {"eval_set_id": "lamps", "eval_cases": [CASE]}
EXCHANGE = {
    "query": "Hi",
    "expected_tool_use": [{"tool_name": "greet", "tool_input": {"tone": "warm"}, "mock_tool_output": "done"}],
    "expected_intermediate_agent_responses": [{"author": "root", "text": "Well."}],
    "reference": "Hello!",
}


def shape(trace):
    return [(m["role"], m["agent"], m["content"], [c["name"] for c in m["tool_calls"]]) for m in trace.messages]


def test_a_case_is_an_expected_conversation():
    (trace,) = expected_traces(SET)
    assert shape(trace) == [
        ("user", None, "Turn the lamp off.", []),
        ("assistant", "root", "One moment.", []),
        ("assistant", None, None, ["find"]),
        ("assistant", None, None, ["switch"]),
        ("tool", None, "off", []),
        ("assistant", None, "It is off.", []),
        ("user", None, "Thanks", []),
        ("assistant", None, "Bye.", []),
    ]
    assert [(c["arguments"], c["status"], c["turn"]) for c in trace.tool_calls] == [
        ({"kind": "lamp"}, "missing", 1),
        ({"on": False}, "ok", 1),
    ]
    assert trace.scenario_id == "lamp"


def test_expected_events_are_marked_as_expected():
    (trace,) = expected_traces(SET)
    assert trace.metadata == {"expected": True, "eval_set_id": "lamps"}
    assert trace.tags == ["expected"]


def test_events_between_keep_their_order():
    between = {
        "invocationEvents": [
            {"author": "root", "content": {"parts": [{"functionCall": {"name": "find", "args": {}}}]}},
            {
                "author": "root",
                "content": {"parts": [{"functionResponse": {"name": "find", "response": {}}}]},
            },
            {"author": "root", "content": {"parts": [{"text": "Found."}]}},
        ]
    }
    case = {
        "evalId": 7,
        "conversation": [{"userContent": content("user", "Go"), "intermediateData": between}],
    }
    (trace,) = expected_traces({"evalCases": [case]})
    assert [(role, calls) for role, _, _, calls in shape(trace)] == [
        ("user", []),
        ("assistant", ["find"]),
        ("tool", []),
        ("assistant", []),
    ]
    assert trace.scenario_id == "7"


def test_the_older_form_is_one_case():
    (trace,) = expected_traces([EXCHANGE, {"query": "And now?", "reference": "Bye."}])
    assert shape(trace) == [
        ("user", None, "Hi", []),
        ("assistant", "root", "Well.", []),
        ("assistant", None, None, ["greet"]),
        ("tool", None, "done", []),
        ("assistant", None, "Hello!", []),
        ("user", None, "And now?", []),
        ("assistant", None, "Bye.", []),
    ]
    assert trace.scenario_id is None


def test_the_older_form_with_names_is_a_case_each():
    traces = expected_traces([{"name": "a", "data": [EXCHANGE]}, {"name": "b", "data": [EXCHANGE]}])
    assert [trace.scenario_id for trace in traces] == ["a", "b"]


@pytest.mark.parametrize("document", [SET, [EXCHANGE], [{"name": "a", "data": [EXCHANGE]}], {"evalCases": []}])
def test_expectations_never_pass_as_traces(document):
    files = MemoryFiles({"t/a.json": json.dumps(document).encode()})
    (record,) = TraceFiles(files).read(["t"], "")
    assert isinstance(record, DamagedTrace)
    assert record.reason.startswith("an eval set holds expected conversations, not what an agent did")
    assert (record.source.format, record.fallback_id) == ("adk-evalset", "a.json")


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"eval_cases": [{"eval_id": "a"}]}, r"eval_cases\[0\].conversation is missing"),
        (
            {"eval_cases": [{"conversation": [{"user_content": 3}]}]},
            r"eval_cases\[0\].conversation\[0\].user_content",
        ),
        ({"eval_cases": [{"conversation": [{}]}]}, r"eval_cases\[0\].conversation contains no messages"),
        ([{"query": None}], r"\[0\].query is missing"),
        (3, "is not an object"),
    ],
)
def test_a_case_that_can_not_be_read_is_refused_by_field(document, problem):
    with pytest.raises(TraceError, match=problem):
        expected_traces(document)


@pytest.mark.parametrize("value", [None, [], {}, [[]], [{"query": "x"}], {"query": "x", "reference": "y"}])
def test_other_documents_are_not_claimed(value):
    assert not ADK_EVALSET.claims(value)


@given(damage_document([SET, [EXCHANGE, EXCHANGE], [{"name": "a", "data": [EXCHANGE]}]]))
def test_damage_is_a_trace_error_or_none(documents):
    for document in documents:
        try:
            expected_traces(document)
        except TraceError as error:
            assert "\n" not in str(error)
