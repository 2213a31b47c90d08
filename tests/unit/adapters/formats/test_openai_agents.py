from __future__ import annotations

import pytest

from evalgate.adapters.formats.openai_agents import OPENAI_AGENTS, reader


def span(span_id, parent, data, begin, end, *, error=None, trace_id="trace_1"):
    return {
        "object": "trace.span",
        "id": span_id,
        "trace_id": trace_id,
        "parent_id": parent,
        "started_at": f"2026-11-20T22:41:{begin:02d}+00:00",
        "ended_at": f"2026-11-20T22:41:{end:02d}+00:00",
        "span_data": data,
        "error": error,
    }


def usage(tokens_in, tokens_out, cached=0):
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens_details": {"reasoning_tokens": 0},
    }


def response(number, tokens):
    return {"type": "response", "response_id": f"resp_{number}", "usage": tokens}


def restated(kind, tokens):
    return {"type": "custom", "name": kind, "data": {"sdk_span_type": kind, "usage": tokens}}


def head(trace_id="trace_1", **fields):
    return {
        "object": "trace",
        "id": trace_id,
        "workflow_name": "Support",
        "group_id": None,
        "metadata": None,
        **fields,
    }


TASK = usage(300, 30)
SPANS = [
    span("r1", "turn1", response(1, usage(100, 10, cached=64)), 1, 2),
    span("h", "turn1", {"type": "handoff", "from_agent": "Router", "to_agent": "Clerk"}, 2, 2),
    span("turn1", "router", restated("turn", usage(100, 10)), 1, 3),
    span("router", "task", {"type": "agent", "name": "Router", "tools": []}, 1, 3),
    span("r2", "turn2", response(2, usage(200, 20)), 3, 4),
    span("f", "turn2", {"type": "function", "name": "find", "input": '{"q": "x"}', "output": "found"}, 5, 7),
    span("turn2", "clerk", restated("turn", usage(200, 20)), 3, 8),
    span("clerk", "task", {"type": "agent", "name": "Clerk", "tools": ["find"]}, 3, 9),
    span("task", None, restated("task", TASK), 0, 10),
]
WHOLE = [*SPANS, head()]


def build(documents):
    (record,) = reader.split(documents)
    return reader.build(record)


@pytest.mark.parametrize("document", [{**head(), "spans": SPANS}, {"trace": head(), "spans": SPANS}, {"data": WHOLE}])
def test_a_trace_may_contain_its_spans_or_be_listed_with_them(document):
    assert OPENAI_AGENTS.claims(document)
    assert build([document]) == build(WHOLE)


@pytest.mark.parametrize("documents", [[WHOLE], [{"data": WHOLE}]], ids=["a list", "what the exporter sends"])
def test_one_document_reads_as_lines(documents):
    assert OPENAI_AGENTS.claims(documents[0])
    assert build(documents) == build(WHOLE)


@pytest.mark.parametrize("value", [None, [], {}, {"object": "trace"}, {"object": "trace.span", "span_data": 1}])
def test_other_values_are_not_claimed(value):
    assert not OPENAI_AGENTS.claims(value)


def test_every_line_is_claimed():
    assert all(OPENAI_AGENTS.claims(line) for line in WHOLE)
