"""A stricter limit never turns fail into pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from assertion_examples import parse_assertion
from builders import make_call, make_trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.trace.trace import Trace


def _slow(seconds: float) -> Trace:
    trace = make_trace(calls=["a"])
    trace.tool_calls[0]["duration_ms"] = seconds * 1000
    return trace


def _errors(number: int) -> Trace:
    return make_trace(calls=[make_call("a", status="error")] * number)


def _calls(number: int) -> Trace:
    return make_trace(calls=["a"] * number)


def _answers(number: float) -> Trace:
    return make_trace(response=f"{number}")


LIMITS: list[tuple[dict[str, Any], str, int, Callable[[int], Trace]]] = [
    ({"type": "cost_limit"}, "max_usd", -1, lambda figure: make_trace(cost_usd=figure)),
    ({"type": "latency_limit"}, "max_seconds", -1, lambda figure: make_trace(latency_seconds=figure)),
    (
        {"type": "token_limit"},
        "max_input",
        -1,
        lambda figure: make_trace(input_tokens=figure, output_tokens=0),
    ),
    (
        {"type": "token_limit"},
        "max_output",
        -1,
        lambda figure: make_trace(input_tokens=0, output_tokens=figure),
    ),
    (
        {"type": "token_limit"},
        "max_total",
        -1,
        lambda figure: make_trace(input_tokens=1, output_tokens=figure),
    ),
    ({"type": "turn_limit"}, "max_turns", -1, lambda figure: make_trace(turns=[("a", "b")] * figure)),
    ({"type": "tool_latency_limit", "tool": "a"}, "max_seconds", -1, _slow),
    ({"type": "max_tool_calls"}, "max", -1, _calls),
    ({"type": "max_tool_errors"}, "max", -1, _errors),
    ({"type": "tool_calls"}, "max", -1, _calls),
    ({"type": "tool_calls"}, "min", 1, _calls),
    ({"type": "tool_calls"}, "max_tool_calls", -1, _calls),
    ({"type": "tool_calls"}, "max_tool_errors", -1, _errors),
    ({"type": "no_loops"}, "max_repeats", -1, _calls),
    ({"type": "expected_tool", "tool": "a"}, "min_calls", 1, _calls),
    ({"type": "max_length"}, "max", -1, lambda figure: make_trace(response="a" * (figure + 1))),
    ({"type": "min_length"}, "min", 1, lambda figure: make_trace(response="a" * (figure + 1))),
    ({"type": "recorded_score", "name": "s"}, "min", 1, lambda figure: make_trace(scores={"s": figure})),
    ({"type": "output_numeric", "operator": "lte"}, "target", -1, _answers),
    ({"type": "output_numeric", "operator": "gt"}, "target", 1, _answers),
    ({"type": "output_json", "path": ".", "operator": "lt"}, "target", -1, _answers),
    ({"type": "output_json", "path": ".", "operator": "gte"}, "target", 1, _answers),
    ({"type": "convergence", "target": 3, "direction": "minimize", "previous": 0}, "tolerance", -1, _answers),
    *(
        ({"path": "metadata.tool_call_count"}, operator, stricter, _calls)
        for operator, stricter in (("lt", -1), ("lte", -1), ("gt", 1), ("gte", 1))
    ),
]


@pytest.mark.parametrize(
    ("raw", "limit", "stricter", "trace_with"), LIMITS, ids=[f"{raw.get('type', 'path')}-{limit}" for raw, limit, *_ in LIMITS]
)  # fmt: skip
def test_stricter_limit__never_turns_fail_into_pass(
    raw: dict[str, Any], limit: str, stricter: int, trace_with: Callable[[int], Trace]
) -> None:
    seen = set()
    for figure in range(6):
        trace = trace_with(figure)
        lenient_first = range(7, 0, -1) if stricter < 0 else range(1, 8)
        outcomes = [parse_assertion({**raw, limit: most}).assess(trace).outcome for most in lenient_first]
        assert outcomes == sorted(outcomes, key=["passed", "failed"].index)
        seen.update(outcomes)
    assert seen == {"passed", "failed"}


@pytest.mark.parametrize(
    ("kind", "metric"),
    [*(("similarity", metric) for metric in ("jaccard", "levenshtein", "rouge_l", "bleu")),
     *(("trajectory_score", metric) for metric in ("precision", "recall", "f1", "lcs", "exact", "in_order", "any_order"))],
)  # fmt: skip
def test_higher_least_score__never_turns_fail_into_pass(kind: str, metric: str) -> None:
    reference: Any = ["a", "b", "c"] if kind == "trajectory_score" else "a b c d e"
    for text in ("a b c d e", "a b c d x", "a x", "x"):
        trace = make_trace(calls=text.split(), response=text)
        raw = {"type": kind, "metric": metric, "reference": reference}
        outcomes = [parse_assertion({**raw, "min_score": tenths / 10}).assess(trace).outcome for tenths in range(11)]
        assert outcomes == sorted(outcomes, key=["passed", "failed"].index)
