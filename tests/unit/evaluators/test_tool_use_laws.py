"""What holds for every check of tool use, on any calls a trace may carry."""

from typing import Any

from assess_assertion import compile_assertion
from builders import make_call, make_trace
from hypothesis import given
from hypothesis import strategies as st

from evalgate.evaluators.core.assertion import Assertion

READ: dict[str, Assertion] = {}


def judge(raw: Any) -> Assertion:
    """The assertion, read once: reading is most of the time of a short check."""
    key = repr(raw)
    if key not in READ:
        READ[key] = compile_assertion(raw)
    return READ[key]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["action", "when", "delay_seconds", "recurring"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def any_call(draw: Any) -> Any:
    call: Any = make_call(
        draw(st.sampled_from(["a", "b"])),
        status=draw(st.sampled_from(["ok", "error", "missing"])),
        requestor=draw(st.sampled_from(["assistant", "user"])),
    )
    call["arguments"] = draw(VALUES)
    call["arguments_raw"] = draw(st.none() | st.just("{"))
    call["error"] = draw(st.none() | st.just({"type": None, "message": None}))
    call["duration_ms"] = draw(st.none() | st.floats(0, 9_000))
    return call


CHECKS: list[dict[str, Any]] = [
    {"type": "tool_calls", "tool": "a", "min": 1, "max": 2, "forbidden_tools": ["b"], "max_tool_errors": 1},
    {"type": "forbidden_tools", "tools": ["b*"]},
    {"type": "allowed_tools", "tools": ["a"]},
    {"type": "max_tool_calls", "max": 2},
    {"type": "max_tool_errors", "max": 0},
    {"type": "tool_arguments", "tool": "a", "schema": {"type": "object", "required": ["when"]}},
    {"type": "tool_arguments", "tool": "a"},
    {"type": "no_loops", "max_repeats": 1},
    {"type": "trajectory_score", "metric": "f1", "reference": ["a", "b"], "min_score": 0.5},
    {"type": "expected_tool", "expected_tool": "a", "action": "x", "min_calls": 2},
    {"type": "expected_tool", "expected_tool": None, "tool": "a", "action": "x"},
    {"type": "no_tool", "tool": "a"},
    {"type": "no_run_code"},
    {"type": "has_timing", "tool": "a"},
    {"type": "staggered_timing", "tool": "a"},
    {"type": "is_recurring", "tool": "a"},
    {"type": "token_limit", "max_total": 5},
    {"type": "turn_limit", "max_turns": 1},
    {"type": "tool_latency_limit", "tool": "a", "max_seconds": 1},
    {"type": "finish_reason", "in": ["stop"]},
]


@given(calls=st.lists(any_call(), max_size=5), definition=VALUES)
def test_checks_of_tool_use__end_on_any_trace_with_a_reason_on_one_line(calls, definition):
    trace = make_trace()
    trace.tool_calls = calls
    trace.tool_definitions = [{"name": "a", "parameters": definition}]
    for raw in CHECKS:
        found = judge(raw).assess(trace)
        assert found.outcome in {"passed", "failed", "not_evaluable"}, raw
        assert 0 <= found.score <= 1
        assert found.reason
        assert "\n" not in found.reason


@given(calls=st.lists(any_call(), max_size=5))
def test_checks_of_tool_use__negated_swap_passed_and_failed_only(calls):
    trace = make_trace()
    trace.tool_calls = calls
    for raw in CHECKS:
        plain, negated, twice = (judge(form).assess(trace) for form in (raw, {"not": raw}, {"not": {"not": raw}}))
        swapped = {"passed": "failed", "failed": "passed"}.get(plain.outcome, plain.outcome)
        assert (negated.outcome, twice.outcome) == (swapped, plain.outcome), raw
