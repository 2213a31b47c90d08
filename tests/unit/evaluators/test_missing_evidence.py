"""What a trace does not record makes no check pass, negated or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from assertion_examples import BY_TIMING, EXAMPLES, PATHS, TEXT_KINDS, negated_forms
from assess_assertion import outcome
from builders import make_call, make_trace

from evalgate.models.trace.trace import KINDS, Trace, unknown_cost, unknown_latency, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _full() -> Trace:
    """A trace that lacks nothing."""
    call = make_call("a", {"q": "a", "action": "x", "delay_seconds": 1}, result="1", exit_code=0)
    call["duration_ms"] = 1
    trace = make_trace(
        calls=[call], response="5", cost_usd=0.1, latency_seconds=0.1, input_tokens=1, output_tokens=1,
        scores={"s": 1}, finish_reason="stop",
    )  # fmt: skip
    trace.tool_definitions = [{"name": "a", "parameters": {"type": "object"}}]
    return trace


def _without_answer(trace: Trace) -> None:
    trace.response["content"] = None


def _without_cost(trace: Trace) -> None:
    trace.cost = unknown_cost()


def _without_latency(trace: Trace) -> None:
    trace.latency = unknown_latency()


def _without_tokens(trace: Trace) -> None:
    trace.usage = unknown_usage()


def _without_arguments(trace: Trace) -> None:
    for call in trace.tool_calls:
        call["arguments"] = None


def _without_results(trace: Trace) -> None:
    for call in trace.tool_calls:
        call["result"] = call["result_text"] = call["exit_code"] = None
        call["status"] = "missing"


def _without_durations(trace: Trace) -> None:
    for call in trace.tool_calls:
        call["duration_ms"] = None


def _without_calls(trace: Trace) -> None:
    trace.tool_calls = []


def _without_scores(trace: Trace) -> None:
    trace.evaluations = []


def _without_finish_reason(trace: Trace) -> None:
    trace.finish_reason = trace.response["finish_reason"] = None


def _without_messages(trace: Trace) -> None:
    trace.messages = []


def _without_definitions(trace: Trace) -> None:
    trace.tool_definitions = []


WITH_ARGUMENTS = {"sequence": [{"tool": "a", "args": {"q": "a"}}]}
LACKING: list[tuple[str, Sequence[dict[str, Any]], Callable[[Trace], None]]] = [
    *((kind, [fields], _without_answer) for kind, fields in TEXT_KINDS.items()),
    ("cost_limit", EXAMPLES["cost_limit"], _without_cost),
    ("exit_code", [{"source": {"tool": "a"}}], _without_results),
    ("exit_code", [{"source": {"tool": "a"}}], _without_calls),
    (
        "expected_tool",
        [{"tool": "a", "action": "x"}, {"expected_tool": None, "tool": "a", "action": "x"}],
        _without_arguments,
    ),
    ("finish_reason", EXAMPLES["finish_reason"], _without_finish_reason),
    *((kind, EXAMPLES[kind], _without_arguments) for kind in BY_TIMING),
    (
        "jmespath",
        [each for each in EXAMPLES["jmespath"] if each["expression"] == PATHS[0] and each["operator"] != "exists"],
        _without_answer,
    ),
    (
        "jmespath",
        [each for each in EXAMPLES["jmespath"] if each["expression"] == PATHS[1] and each["operator"] != "exists"],
        _without_cost,
    ),
    ("latency_limit", EXAMPLES["latency_limit"], _without_latency),
    ("max_tool_errors", EXAMPLES["max_tool_errors"], _without_results),
    ("no_tool", [{"tool": "a", "action": "x"}], _without_arguments),
    ("recorded_score", EXAMPLES["recorded_score"], _without_scores),
    ("token_limit", EXAMPLES["token_limit"], _without_tokens),
    ("tool_arguments", EXAMPLES["tool_arguments"], _without_arguments),
    ("tool_arguments", EXAMPLES["tool_arguments"], _without_calls),
    ("tool_arguments", [{"tool": "a"}], _without_definitions),
    ("tool_calls", [{"max_tool_errors": 0}], _without_results),
    ("tool_latency_limit", EXAMPLES["tool_latency_limit"], _without_durations),
    ("tool_latency_limit", EXAMPLES["tool_latency_limit"], _without_calls),
    *(
        ("tool_sequence", [{**WITH_ARGUMENTS, "mode": mode}], _without_arguments)
        for mode in ("exact", "in_order", "any_order")
    ),
    ("tool_sequence", [{"sequence": [{"tool": "a", "status": "ok"}]}], _without_results),
    ("turn_limit", EXAMPLES["turn_limit"], _without_messages),
]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_nothing_is_recorded__is_neither_passed_nor_failed(kind: str) -> None:
    trace = make_trace(calls=[], response=None)
    trace.messages, trace.gaps = [], dict.fromkeys(KINDS, "nothing is recorded")
    asked = [{"type": kind, **fields} for fields in EXAMPLES[kind] if fields.get("operator") != "exists"]
    for form in [form for raw in asked for form in (raw, *negated_forms(raw))]:
        assert outcome(form, trace) in ("not_evaluable", "error"), form


@pytest.mark.parametrize(
    ("kind", "examples", "without"), LACKING, ids=[f"{kind}{each.__name__}" for kind, _, each in LACKING]
)
def test_missing_evidence__is_neither_passed_nor_failed_negated_or_not(
    kind: str, examples: Sequence[dict[str, Any]], without: Callable[[Trace], None]
) -> None:
    trace = _full()
    without(trace)
    for fields in examples:
        raw = {"type": kind, **fields}
        assert outcome(raw, _full()) in {"passed", "failed", "error"}, "with its evidence it can be judged"
        for form in [raw, *negated_forms(raw), {"not": {"at_least": {"k": 1, "of": [raw]}}}, {"not": {"not": raw}}]:
            assert outcome(form, trace) == "not_evaluable", form
        assert outcome({"when": raw, "then": [{"type": "tool_called", "tool": "a"}]}, trace) == "not_evaluable"
        assert outcome({"not": {"when": raw, "then": [{"type": "tool_called", "tool": "a"}]}}, trace) == "not_evaluable"


EMPTY = Trace("t", [], [], {"content": None, "finish_reason": None, "message_index": None})


@pytest.mark.parametrize(
    "kind",
    sorted({kind for kind, _, each in LACKING if each is not _without_arguments and each is not _without_results}),
)
def test_empty_trace__passes_no_check_that_needs_missing_evidence(kind: str) -> None:
    for fields in EXAMPLES[kind]:
        raw = {"type": kind, **fields}
        if fields.get("operator") == "exists" or kind in {"tool_sequence", "tool_calls"}:
            continue
        found = [outcome(form, EMPTY) for form in (raw, *negated_forms(raw))]
        assert found == ["not_evaluable"] * 5, raw
