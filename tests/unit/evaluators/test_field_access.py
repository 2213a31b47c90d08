import pytest
from builders import make_call, make_trace

from evalgate.evaluators.core.queries import build_getter
from evalgate.measures.jmespath.query import Query
from evalgate.models.trace.trace_view import METADATA, TraceView

FULL = make_trace(
    calls=[make_call("search", {"q": "a"}, result='{"found": 1}')],
    response='{"status": "ok"}',
    cost_usd=0.5,
    latency_seconds=2.0,
    input_tokens=900,
    output_tokens=100,
    scores={"s": 0.5},
    finish_reason="stop",
    agent={"framework": "own"},
    # Two names that the metadata has anyway, which win, and one of its own.
    metadata={"model": "a guess", "custom": {"a": 1}, "status": "refunded", "order": {"id": 7}, "none": None},
)
BARE = make_trace(response=None)
PATHS = [
    *(f"metadata.{name}" for name in [*METADATA, "order", "none", "missing"]),
    *(f"metadata.custom.{name}" for name in ["status", "order", "order.id", "model", "custom", "missing"]),
    *(f"{section}.{name}" for section in ("usage", "cost", "latency") for name in ("source", "missing")),
    *("usage.total_tokens", "usage.input_tokens", "cost.usd", "latency.total_ms", "scores.s", "errors.first"),
    *(f"response.{name}" for name in ("content", "text", "json", "json.status", "role", "finish_reason", "missing")),
    *("metadata.agent.framework", "metadata.order.id", "metadata.none.further", "metadata.status.further"),
    *("response", "metadata.custom", "tool_calls.name", "missing", "missing.further", "@.cost.usd", "turns[0].role"),
    *('"metadata"."order"', "metadata | custom | status", "tool_calls[0].arguments.q", "length(turns)"),
]  # fmt: skip


@pytest.mark.parametrize("trace", [FULL, BARE], ids=["full", "bare"])
@pytest.mark.parametrize("path", PATHS)
def test_getter__finds_what_the_view_shows(trace, path):
    expected = Query(path).search_value(TraceView(trace).whole())
    assert build_getter(Query(path))(trace) == expected


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("true", True), ("false", False), ("null", None), ("5", 5), ("-0.5", -0.5), ("0", 0), ('"x"', "x"), (" [1] ", [1]),
        ("{}", {}), ("", None), ("yes", None), ("tru", None), ("- first", None), ("5 apples", None), ("NaN", None), ("'x'", None),
    ],
)  # fmt: skip
def test_the_answer_as_json_is_every_value_that_json_has(answer, value):
    found = build_getter(Query("response.json"))(make_trace(response=answer))
    assert (found, type(found)) == (value, type(value))
