from __future__ import annotations

import pytest

from evalgate.adapters.formats.inspect_ai import INSPECT
from evalgate.adapters.formats.inspect_ai import reader as inspect_log
from evalgate.adapters.formats.inspect_ai.reader import Sample
from evalgate.adapters.formats.inspect_ai.sample_messages import MAX_CHARS
from evalgate.errors import TraceError

LONG = "463777a091c1f1d51bd40c4824a48142"


def at(second):
    return f"2026-01-05T10:00:{second:06.3f}-04:00"


def usage(fresh, out, total=None, **fields):
    return {"input_tokens": fresh, "output_tokens": out, "total_tokens": total or fresh + out, **fields}


def model(second, tokens, *, span="solve", message="m", reason="stop", **fields):
    answer = {"id": message, "role": "assistant", "content": "..."}
    return {
        "event": "model",
        "span_id": span,
        "timestamp": at(second),
        "working_start": second,
        "model": "acme/large",
        "input": [],
        "tools": [{"name": "look", "description": f"attachment://{LONG}", "parameters": {}}],
        "output": {
            "model": "large-1",
            "choices": [{"message": answer, "stop_reason": reason}],
            "usage": tokens,
            "time": 1.0,
        },
        "working_time": 0.75,
        **fields,
    }


def span(kind, second, name, above=None, **fields):
    return {
        "event": f"span_{kind}",
        "id": name,
        "name": name,
        "span_id": name,
        "parent_id": above,
        "timestamp": at(second),
        "working_start": second,
        **fields,
    }


MESSAGES = [
    {"id": "s", "role": "system", "content": f"attachment://{LONG}"},
    {
        "id": "u",
        "role": "user",
        "content": [{"type": "text", "text": "Is it there?"}, {"type": "image", "image": "data:"}],
    },
    {
        "id": "m1",
        "role": "assistant",
        "model": "large-1",
        "content": [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "I look."}],
        "tool_calls": [
            {"id": "a", "function": "look", "arguments": {"x": 1}},
            {"id": "b", "function": "look", "arguments": {}, "parse_error": "no JSON"},
        ],
    },
    {
        "role": "tool",
        "tool_call_id": "b",
        "function": "look",
        "content": "",
        "error": {"type": "parsing", "message": "bad"},
    },
    {"role": "tool", "tool_call_id": "a", "function": "look", "content": "there"},
    {"id": "m2", "role": "assistant", "model": "large-1", "content": "Yes."},
]
EVENTS = [
    span("begin", 0, "init"),
    span("begin", 0.1, "solve", type="solver"),
    model(1, usage(100, 10, input_tokens_cache_read=60, reasoning_tokens=4), message="m1", reason="tool_calls"),
    {
        "event": "tool",
        "id": "a",
        "span_id": "solve",
        "timestamp": at(2),
        "completed": at(4),
        "working_time": 1.5,
        "working_start": 2,
    },
    model(5, usage(130, 5), message="m2"),
    span("end", 6, "solve"),
    span("begin", 6.5, "scorers"),
    span("begin", 7, "grade", "scorers", type="scorer"),
    span("begin", 7, "inner", "grade", type="agent"),
    model(8, usage(500, 50), span="inner", message="j"),
    {"event": "score", "span_id": "grade", "timestamp": at(20), "working_start": 20},
    span("end", 21, "grade", "scorers"),
]
SAMPLE = {
    "id": "there",
    "epoch": 2,
    "uuid": "u-1",
    "input": "Is it there?",
    "target": "yes",
    "messages": MESSAGES,
    "output": {"choices": [{"message": {"id": "m2", "content": "Yes."}, "stop_reason": "stop"}]},
    "scores": {"match": {"value": "C", "answer": "Yes.", "explanation": "It says yes."}},
    "metadata": {"level": 3},
    "model_usage": {"acme/large": usage(730, 65)},
    "events": EVENTS,
    "attachments": {LONG: "You look for things."},
    "total_time": 30.0,
    "working_time": 21.5,
    "error": None,
    "limit": None,
}
EVAL = {"task": "finding", "model": "acme/large", "solver": "react", "tags": ["nightly", 3]}
LOG = {"version": 2, "status": "success", "eval": EVAL, "samples": [SAMPLE]}


def build(**fields):
    return inspect_log.build(Sample(LOG, {**SAMPLE, **fields}))


def bare(**fields):
    """A sample without events."""
    return build(**{"events": [], "model_usage": {}, **fields})


def scores(value):
    return {e["name"]: (e["score_value"], e["score_label"]) for e in bare(scores={"s": {"value": value}}).evaluations}


def test_attachments_that_expand_beyond_the_limit_are_refused():
    many = [{"role": "user", "content": f"attachment://{LONG}"}] * 30
    with pytest.raises(TraceError, match="expand to more than 25,000,000"):
        bare(messages=many, attachments={LONG: "x" * (MAX_CHARS // 25)})


@pytest.mark.parametrize(
    ("log", "problem"),
    [
        ({**LOG, "samples": []}, "the log has no samples$"),
        ({"eval": EVAL, "status": "cancelled"}, "no samples, and its run was cancelled"),
    ],
)
def test_a_log_without_samples_is_refused(log, problem):
    with pytest.raises(TraceError, match=problem):
        inspect_log.split([log])


@pytest.mark.parametrize("value", [None, 1, [], {}, {"eval": {}}, {"eval": {"task": "x"}}, {"status": "x", "eval": []}])
def test_other_documents_are_not_claimed(value):
    assert not INSPECT.claims(value)


def test_logs_are_claimed():
    assert INSPECT.claims(LOG)
