from __future__ import annotations

import json

import pytest

from evalgate.adapters.formats.langfuse import LANGFUSE, reader

ASKED = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}}
USER = {"role": "user", "content": "Find x."}
CALLED = {"role": "assistant", "content": "", "tool_calls": [ASKED]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "found"}


def row(row_id, kind, begin, end, parent="root", **fields):
    return {
        "id": row_id,
        "traceId": "t1",
        "parentObservationId": parent,
        "type": kind,
        "name": row_id,
        "startTime": f"2026-11-20T22:41:{begin:02d}.000Z",
        "endTime": f"2026-11-20T22:41:{end:02d}.000Z",
        "level": "DEFAULT",
        "statusMessage": "",
        "model": None,
        "usageDetails": {},
        "costDetails": {},
        "providedCostDetails": {},
        "input": None,
        "output": None,
        "metadata": "{}",
        **fields,
    }


def generation(row_id, begin, end, given, gave, usage=None, *, attributes=None, parent="root", **fields):
    return row(
        row_id,
        "GENERATION",
        begin,
        end,
        parent,
        **{
            "model": "gpt-5-mini",
            "input": json.dumps(given),
            "output": json.dumps(gave),
            "usageDetails": usage or {},
            "metadata": json.dumps({"attributes": attributes} if attributes else {}),
            **fields,
        },
    )


def tokens(tokens_in, tokens_out, **details):
    return {"input": tokens_in, "output": tokens_out, "total": tokens_in + tokens_out, **details}


HEAD = {
    "id": "t1",
    "name": "Helper",
    "timestamp": "2026-11-20T22:41:00.000Z",
    "sessionId": "chat-7",
    "tags": ["nightly"],
    "latency": 9.5,
    "release": "v2",
    "input": '{"messages": [{"role": "user", "content": "Find x."}]}',
    "output": "Here is x.",
    "metadata": json.dumps(
        {
            "team": "blue",
            "evalgate.scenario.id": "find",
            "attributes": {"a": 1},
            "resourceAttributes": {"host.name": "secret"},
            "scope": {"attributes": {"public_key": "pk"}},
        }
    ),
    "scores": [
        {"name": "toxicity", "value": 0.8, "comment": "rude", "stringValue": None, "observationId": None},
        {"name": "tone", "value": 1, "stringValue": "friendly", "observationId": "g2"},
    ],
}
ROWS = [
    generation("g2", 7, 8, [USER, CALLED, RESULT], {"role": "assistant", "content": "Here is x."}, tokens(200, 20)),
    row("find", "TOOL", 4, 6, input='{"q":"x"}', output="found"),
    generation("g1", 1, 3, [USER], CALLED, tokens(100, 10), costDetails={"total": 0.0001}),
    row("root", "AGENT", 0, 9, None, name="Helper agent"),
]
WHOLE = {"trace": HEAD, "observations": ROWS}


def build(rows, **head):
    (record,) = reader.split([{"trace": {**HEAD, **head}, "observations": rows}])
    return reader.build(record)


@pytest.mark.parametrize("written", [lambda value: value, json.dumps, repr], ids=["value", "json", "python"])
def test_input_and_output_are_read_however_they_were_kept(written):
    given, gave = written({"messages": [USER]}), written({"role": "assistant", "content": "Hello"})
    trace = build([row("g", "GENERATION", 0, 1, None, input=given, output=gave)])
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "Find x."),
        ("assistant", "Hello"),
    ]


@pytest.mark.parametrize(
    "document",
    [
        {**HEAD, "observations": ROWS},
        [WHOLE],
        {"data": [WHOLE]},
        {"trace": {**HEAD, "observations": ROWS}, "observations": ROWS},
    ],
    ids=["as the interface gives it", "a list", "a page", "observations twice"],
)
def test_exports_are_read_the_same_in_any_layout(document):
    assert LANGFUSE.claims(document)
    (record,) = reader.split([document])
    assert reader.build(record) == build(ROWS)


def test_observations_without_a_trace_are_gathered_by_its_id():
    assert LANGFUSE.claims(ROWS[0])
    other = {**ROWS[2], "traceId": "t2", "parentObservationId": None}
    one, two = reader.split([*ROWS, other])
    trace = reader.build(one)
    assert (trace.trace_id, trace.response["content"]) == ("t1", "Here is x.")
    assert reader.build(two).trace_id == "t2"


@pytest.mark.parametrize("value", [None, [], {}, {"observations": []}, {"observations": [], "trace": 1}, {"id": "a"}])
def test_other_values_are_not_claimed(value):
    assert not LANGFUSE.claims(value)
