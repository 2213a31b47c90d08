"""Missing evidence of calls: what was seen decides only where more evidence could not turn it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from assertion_examples import ALL, EXAMPLES, any_trace, negated_forms, parse_assertion
from assess_assertion import assess, compile_assertion, outcome
from builders import make_call, make_trace
from hypothesis import given
from hypothesis import strategies as st

from evalgate.evaluators.core.evaluator import EvidenceCheck
from evalgate.evaluators.core.queries import query_evidence
from evalgate.measures.jmespath.query import Query
from evalgate.models.trace.trace import KINDS, Cost, ToolCall

if TYPE_CHECKING:
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace

WHY = "content was not captured: set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
SWAPPED = {"passed": "failed", "failed": "passed"}


def call(name: str, arguments: Any = None, **fields: Any) -> ToolCall:
    found = make_call(name, arguments, **{key: value for key, value in fields.items() if key != "duration_ms"})
    found["duration_ms"] = fields.get("duration_ms")
    return found


def with_gap(*calls: Any, gaps: Any = ("calls",), **fields: Any) -> Trace:
    trace = make_trace(calls=list(calls), **fields)
    trace.gaps = dict.fromkeys(gaps, WHY)
    return trace


NONE, OPEN = "not_evaluable", None
A, B, SKILL = call("a"), call("b"), call("Skill", {"skill": "pdf"})
SLOW, RESULT = call("a", duration_ms=5_000), call("a", result="5", exit_code=0)
LATE, SOON = call("a", {"when": ""}), call("a", {"when": "0 9 * * *", "recurring": True})
TWO = {"sequence": ["a", "b"]}

ON_CALLS: list[tuple[dict[str, Any], list[ToolCall], Outcome]] = [
    ({"type": "forbidden_tools", "tools": ["a*"]}, [], NONE),
    ({"type": "forbidden_tools", "tools": ["a*"]}, [B], NONE),
    ({"type": "forbidden_tools", "tools": ["a*"]}, [B, A], "failed"),
    ({"type": "allowed_tools", "tools": ["a"]}, [A], NONE),
    ({"type": "allowed_tools", "tools": ["a"]}, [A, B], "failed"),
    ({"type": "allowed_tools", "tools": []}, [], NONE),
    ({"type": "no_tool", "tool": "a"}, [B], NONE),
    ({"type": "no_tool", "tool": "a"}, [A], "failed"),
    ({"type": "no_tool", "tool": "a", "action": "x"}, [A], NONE),
    ({"type": "no_tool", "tool": "a", "action": "x"}, [call("a", {"action": "x"})], "failed"),
    ({"type": "no_run_code"}, [B], NONE),
    ({"type": "no_run_code"}, [call("run_code")], "failed"),
    ({"type": "expected_tool", "expected_tool": "a"}, [B], NONE),
    ({"type": "expected_tool", "expected_tool": "a"}, [A], "passed"),
    ({"type": "expected_tool", "expected_tool": "a", "min_calls": 2}, [A], NONE),
    ({"type": "expected_tool", "expected_tool": None}, [], NONE),
    ({"type": "expected_tool", "expected_tool": None}, [A], "failed"),
    ({"type": "expected_tool", "expected_tool": None, "tool": "a"}, [B], NONE),
    ({"type": "tool_called", "tool": "a"}, [B], NONE),
    ({"type": "tool_called", "tool": "a"}, [A], "passed"),
    ({"type": "tool_calls", "tool": "a", "min": 1}, [B], NONE),
    ({"type": "tool_calls", "tool": "a", "min": 1}, [A], "passed"),
    ({"type": "tool_calls", "max": 1}, [A], NONE),
    ({"type": "tool_calls", "max": 1}, [A, B], "failed"),
    ({"type": "tool_calls", "exactly": 2}, [A], NONE),
    ({"type": "tool_calls", "exactly": 2}, [A, B], NONE),
    ({"type": "tool_calls", "exactly": 1}, [A, B], "failed"),
    ({"type": "tool_calls", "min": 1, "max": 2}, [A], NONE),
    ({"type": "tool_calls", "min": 1, "max": 2}, [A, B, A], "failed"),
    ({"type": "tool_calls", "min": 1, "forbidden_tools": ["b"]}, [A], NONE),
    ({"type": "tool_calls", "min": 3, "forbidden_tools": ["b"]}, [B], "failed"),
    ({"type": "tool_calls", "max_tool_calls": 5, "max_tool_errors": 0}, [A], NONE),
    ({"type": "max_tool_calls", "max": 1}, [A], NONE),
    ({"type": "max_tool_calls", "max": 1}, [A, B], "failed"),
    ({"type": "max_tool_errors", "max": 0}, [A], NONE),
    ({"type": "max_tool_errors", "max": 0}, [call("a", status="error")], "failed"),
    ({"type": "tool_sequence", **TWO}, [A], NONE),
    ({"type": "tool_sequence", **TWO}, [A, call("c"), B], "passed"),
    ({"type": "tool_sequence", **TWO, "mode": "any_order"}, [B, A], "passed"),
    ({"type": "tool_sequence", **TWO, "mode": "exact"}, [A, B], NONE),
    ({"type": "tool_sequence", **TWO, "mode": "exact"}, [B], NONE),
    ({"type": "tool_sequence", **TWO, "mode": "exact"}, [B, A], "failed"),
    ({"type": "tool_sequence", **TWO, "extra_calls": "forbid"}, [call("c")], "failed"),
    ({"type": "tool_sequence", "sequence": [], "extra_calls": "forbid"}, [], NONE),
    ({"type": "tool_sequence", "sequence": [], "extra_calls": "forbid"}, [A], "failed"),
    ({"type": "tool_sequence", "sequence": [{"tool": "a", "args": {"q": 1}}]}, [call("a", {"q": 1})], "passed"),
    ({"type": "tool_sequence", "sequence": [{"tool": "a", "args": {"q": 1}}]}, [call("a", {"q": 2})], NONE),
    ({"type": "tool_arguments", "tool": "a", "schema": {"required": ["q"]}}, [A], "failed"),
    ({"type": "tool_arguments", "tool": "a", "schema": {"required": ["q"]}}, [call("a", {"q": 1})], NONE),
    ({"type": "tool_arguments", "tool": "a", "schema": {"required": ["q"]}}, [], NONE),
    ({"type": "no_loops", "max_repeats": 1}, [A, B], NONE),
    ({"type": "no_loops", "max_repeats": 1}, [A, A], NONE),
    ({"type": "trajectory_score", "metric": "recall", "reference": ["a"]}, [A], "passed"),
    ({"type": "trajectory_score", "metric": "recall", "reference": ["a"]}, [B], NONE),
    ({"type": "trajectory_score", "metric": "f1", "reference": ["a"]}, [A], NONE),
    ({"type": "trajectory_score", "metric": "precision", "reference": ["a"]}, [], NONE),
    ({"type": "has_timing", "tool": "a"}, [], NONE),
    ({"type": "has_timing", "tool": "a"}, [SOON], NONE),
    ({"type": "has_timing", "tool": "a"}, [SOON, LATE], "failed"),
    ({"type": "staggered_timing", "tool": "a"}, [SOON, SOON], NONE),
    ({"type": "is_recurring", "tool": "a"}, [LATE], NONE),
    ({"type": "is_recurring", "tool": "a"}, [LATE, SOON], "passed"),
    ({"type": "tool_latency_limit", "tool": "a", "max_seconds": 2}, [SLOW], "failed"),
    ({"type": "tool_latency_limit", "tool": "a", "max_seconds": 9}, [SLOW], NONE),
    ({"type": "tool_latency_limit", "tool": "a", "max_seconds": 9}, [], NONE),
    ({"type": "jmespath", "expression": "length(tool_calls)", "operator": "lte", "value": 5}, [A], NONE),
    ({"type": "jmespath", "expression": "metadata.tool_call_count", "operator": "eq", "value": 9}, [A], NONE),
    ({"path": "errors", "length": 0}, [A], NONE),
    ({"path": "tool_calls[?name == 'a'] | [0]", "exists": True}, [A], "passed"),
    ({"path": "tool_calls[?name == 'a'] | [0]", "exists": True}, [B], NONE),
    ({"path": "tool_calls[0]", "exists": False}, [], NONE),
    ({"path": "exchanges[-1].tool_calls[].name", "contains": "a"}, [B], NONE),
    ({"path": "contains(to_string(turns), 'delete')", "eq": False}, [B], NONE),
    ({"type": "contains", "value": "x", "path": "tool_calls[0].name"}, [A], NONE),
    ({"type": "output_contains", "value": "5", "source": {"tool": "a"}}, [RESULT], NONE),
    ({"type": "output_contains", "value": "5", "source": {"tool": "a"}}, [], NONE),
    ({"type": "output_numeric", "operator": "eq", "target": 1, "source": {"tool": "a"}}, [RESULT], NONE),
    ({"type": "output_json", "path": ".", "operator": "eq", "target": 5, "source": {"tool": "a"}}, [RESULT], NONE),
    ({"type": "exit_code", "source": {"tool": "a"}}, [RESULT], NONE),
    ({"type": "convergence", "target": 5, "direction": "minimize", "source": {"tool": "a"}}, [RESULT], NONE),
    (
        {"type": "convergence", "target": 5, "direction": "minimize", "previous": "${trial.metadata.tool_call_count}"},
        [A],
        NONE,
    ),
    ({"type": "grounded_arguments", "tools": ["a"]}, [B], NONE),
    ({"type": "no_flow", "from": {"tools": ["b"]}, "to": {"tools": ["a"], "arguments": ["q"]}}, [B], NONE),
    ({"type": "skill_used", "skill": "pdf"}, [SKILL], "passed"),
    ({"type": "skill_used", "skill": "docx"}, [SKILL], NONE),
    ({"type": "skill_used", "skill": "pdf", "before": "a"}, [SKILL], NONE),
    ({"type": "no_skill"}, [B], NONE),
    ({"type": "no_skill"}, [SKILL], "failed"),
    ({"type": "expected_skill", "expected_skill": "pdf"}, [SKILL], "passed"),
    ({"type": "expected_skill", "expected_skill": None}, [B], NONE),
]  # fmt: skip
IDS = [f"{number}-{raw.get('type', 'jmespath')}" for number, (raw, _, _) in enumerate(ON_CALLS)]


LISTED = {raw.get("type", "jmespath") for raw, _, _ in ON_CALLS}
RECORDED = {"response": "5", "cost_usd": 0.1, "latency_seconds": 0.1, "input_tokens": 1, "output_tokens": 1}


@pytest.mark.parametrize("kind", sorted(EXAMPLES.keys() - LISTED))
def test_a_type_that_is_not_listed__does_not_depend_on_calls(kind):
    for fields in EXAMPLES[kind]:
        raw = {"type": kind, **fields}
        made = [with_gap(*calls, **RECORDED) for calls in ([], [A], [B, SLOW], [RESULT, LATE, SOON])]
        assert {outcome(raw, each) for each in made} == {outcome(raw, make_trace(**RECORDED))}, raw


@pytest.mark.parametrize(("raw", "calls", "expected"), ON_CALLS, ids=IDS)
def test_gap_in_calls__leaves_only_what_more_calls_could_not_turn(raw, calls, expected):
    trace = with_gap(*calls, response="5")
    found = assess(raw, trace)
    assert found.outcome == expected, found.reason
    assert outcome({"all_of": [raw]}, trace) == expected
    assert outcome({"any_of": [raw]}, trace) == expected
    assert outcome({"at_least": {"k": 1, "of": [raw]}}, trace) == expected
    assert outcome({**raw, "required": True}, trace) == expected
    for form in [*negated_forms(raw), {"not": {"at_least": {"k": 1, "of": [raw]}}}]:
        assert outcome(form, trace) == SWAPPED.get(expected, expected), form
    if expected == NONE:
        assert f"missing evidence (calls): {WHY}" in found.reason
        assert found.score == 0.0
        guarded = {"when": raw, "then": [{"type": "not_empty"}]}
        assert outcome(guarded, trace) == NONE
        assert outcome({"not": guarded}, trace) == NONE


@pytest.mark.parametrize(("raw", "calls", "expected"), ON_CALLS, ids=IDS)
def test_without_a_gap__each_can_be_judged(raw, calls, expected):
    trace = make_trace(calls=list(calls), response="5")
    found = assess(raw, trace)
    assert "missing evidence" not in found.reason
    if expected != NONE:
        assert found.outcome == expected


MORE_CALLS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc")), max_size=3)


@given(st.sampled_from(ALL), any_trace(), st.sets(st.sampled_from(KINDS)), MORE_CALLS)
def test_what_a_gap_leaves_decided__no_further_calls_turn(raw, trace, gaps, more):
    trace.gaps = dict.fromkeys(gaps, WHY)
    assertion = parse_assertion(raw)
    with_gaps = assertion.assess(trace).outcome
    trace.gaps, trace.kept_view = {}, None
    without = assertion.assess(trace).outcome
    assert with_gaps in {without, "not_evaluable"}
    if "calls" in gaps and with_gaps in SWAPPED and raw["type"] in LISTED:
        for place, name in more:
            trace.tool_calls.insert(place, call(name))
        trace.kept_view = None
        assert assertion.assess(trace).outcome in {with_gaps, "error"}


DENIES = [
    *({"type": kind, "tools": ["x"]} for kind in ("forbidden_tools", "allowed_tools")),
    {"type": "no_tool", "tool": "x"},
    {"type": "no_tool", "tool": "a", "action": "x"},
    {"type": "no_run_code"},
    {"type": "expected_tool", "expected_tool": None, "tool": "x"},
    {"type": "max_tool_calls", "max": 3},
    {"type": "tool_calls", "max": 3},
    {"type": "tool_calls", "exactly": 2},
    {"type": "tool_calls", "tool": "x", "max": 1, "max_tool_errors": 0},
    {"not": {"type": "tool_called", "tool": "x"}},
    {"not": {"type": "expected_tool", "expected_tool": "x"}},
    {"not": {"any_of": [{"type": "tool_called", "tool": "x"}, {"type": "tool_called", "tool": "y"}]}},
    {"not": {"not": {"type": "no_tool", "tool": "x"}}},
    {"all_of": [{"type": "no_tool", "tool": "x"}, {"type": "not_empty"}]},
    {"when": {"type": "tool_called", "tool": "x"}, "then": [{"type": "no_tool", "tool": "y"}]},
    {"path": "length(tool_calls)", "lt": 9},
    {"path": "tool_calls[0].arguments.missing", "eq": 1},
    {"type": "not_empty", "path": "tool_calls[0].name"},
]
DEMANDS = [
    {"type": "tool_called", "tool": "x"},
    {"type": "expected_tool", "expected_tool": "x"},
    {"type": "tool_calls", "tool": "x", "min": 1},
    {"type": "tool_sequence", "sequence": ["x"]},
    {"not": {"type": "forbidden_tools", "tools": ["x"]}},
    {"any_of": [{"type": "tool_called", "tool": "x"}, {"type": "tool_called", "tool": "y"}]},
    {"when": {"type": "tool_called", "tool": "x"}, "then": [{"type": "not_empty"}]},
    {"type": "output_contains", "value": "x", "source": {"tool": "x"}},
]


def allowing(raw):
    """A check of `allowed_tools` allows the one tool that was called."""
    return {**raw, "tools": ["a"]} if raw.get("type") == "allowed_tools" else raw


@pytest.mark.parametrize("raw", DENIES, ids=str)
def test_on_missing_skip__does_not_apply_to_what_denies_calls(raw):
    trace = with_gap(call("a", None))
    found = assess({**allowing(raw), "on_missing": "skip"}, trace)
    assert (found.outcome, found.counts) == (NONE, True)
    grouped = assess({"all_of": [{**allowing(raw), "on_missing": "skip"}, {"type": "not_empty"}]}, trace)
    assert grouped.outcome == NONE
    assert assess({"any_of": [{"any_of": [allowing(raw)]}], "on_missing": "skip"}, trace).counts


@pytest.mark.parametrize("raw", DEMANDS, ids=str)
def test_on_missing_skip__applies_to_what_demands_calls(raw):
    found = assess({**raw, "on_missing": "skip"}, with_gap("a"))
    assert (found.outcome, found.counts) == (NONE, False)
    assert outcome({"all_of": [{**raw, "on_missing": "skip"}, {"type": "not_empty"}]}, with_gap("a")) == "passed"


def test_on_missing_skip__still_applies_to_other_evidence():
    assert not assess({"type": "cost_limit", "max_usd": 1, "on_missing": "skip"}, with_gap(gaps=["cost"])).counts
    by_action = {"type": "no_tool", "tool": "a", "action": "x", "on_missing": "skip"}
    assert not assess(by_action, with_gap("a", gaps=["arguments"])).counts


@pytest.mark.parametrize(
    ("raw", "gap", "expected"),
    [
        ({"type": "cost_limit", "max_usd": 1}, "cost", NONE),
        ({"type": "cost_limit", "max_usd": 0.1}, "cost", "failed"),
        ({"type": "cost_limit", "max_usd": 1}, "usage", "passed"),
        ({"type": "latency_limit", "max_seconds": 9}, "times", NONE),
        ({"type": "latency_limit", "max_seconds": 1}, "times", "failed"),
        ({"type": "token_limit", "max_total": 90}, "usage", NONE),
        ({"type": "token_limit", "max_total": 1}, "usage", "failed"),
        ({"type": "turn_limit", "max_turns": 3}, "messages", NONE),
        ({"type": "turn_limit", "max_turns": 0}, "messages", "failed"),
        ({"type": "no_loops", "max_repeats": 1}, "arguments", "failed"),
        ({"type": "tool_sequence", "sequence": ["b"]}, "arguments", "failed"),
        ({"type": "tool_sequence", "sequence": [{"tool": "b", "args": {"q": 1}}]}, "arguments", "failed"),
        ({"type": "tool_sequence", "sequence": [{"tool": "a", "args": {"q": 1}}]}, "arguments", NONE),
        ({"type": "output_contains", "value": "done", "source": {"tool": "a"}}, "results", NONE),
        ({"type": "output_contains", "value": "Done"}, "results", "passed"),
        ({"type": "forbidden_tools", "tools": ["x"]}, "arguments", "passed"),
        ({"path": "metadata.cost_usd", "lt": 1}, "cost", NONE),
        ({"path": "usage.total_tokens", "lt": 90}, "usage", NONE),
        ({"path": "tool_calls[0].arguments.q", "exists": False}, "arguments", NONE),
        ({"path": "tool_calls[0].name", "eq": "a"}, "arguments", "passed"),
        ({"path": "exchanges", "length": 1}, "calls", "passed"),
        ({"path": "exchanges[0].user", "eq": "Hello"}, "calls", "passed"),
    ],
)  # fmt: skip
def test_each_kind_of_evidence__is_needed_where_it_is_read(raw, gap, expected):
    trace = with_gap("a", "a", gaps=[gap], cost_usd=0.5, latency_seconds=5, input_tokens=5, output_tokens=5)
    assert outcome(raw, trace) == expected


def test_computed_cost__needs_the_tokens():
    trace = with_gap(gaps=["usage"], cost_usd=0.5)
    trace.cost = Cost(usd=0.5, source="computed")
    assert outcome({"type": "cost_limit", "max_usd": 1}, trace) == NONE


def test_reason__names_several_kinds_with_one_cause_once():
    found = assess({"type": "no_loops"}, with_gap(gaps=["arguments", "calls"]))
    assert found.reason == f"missing evidence (calls, arguments): {WHY}"
    kept = assess({"type": "tool_arguments", "tool": "a"}, with_gap())
    assert kept.reason == f"`a` was not called, no tool was; missing evidence (calls): {WHY}"
    rules = {"type": "tool_calls", "max": 5, "forbidden_tools": ["x"]}
    assert assess(rules, with_gap("a")).reason == f"missing evidence (calls): {WHY}"


def test_plain_check__runs_on_traces_without_gaps():
    assertion = compile_assertion({"type": "tool_called", "tool": "a"})
    assert not isinstance(assertion.check, EvidenceCheck)
    assert assertion.check is not assertion.careful_check


@pytest.mark.parametrize(
    ("expression", "kinds"),
    [
        ("response.content", ()),
        ("response.json.errors", ()),
        ("metadata.custom.x", ()),
        ("tags[?@ == 'x']", ()),
        ("length(exchanges)", ("messages",)),
        ("exchanges[0].user", ("messages",)),
        ("turns[?role == 'user'].content", ("messages",)),
        ("exchanges[0]", ("calls", "messages")),
        ("exchanges[0].*", ("calls", "messages")),
        ("turns[?contains(to_string(@), 'x')].role", ("calls", "messages")),
        ("tool_calls[].name", ("calls",)),
        ("response.content && length(tool_calls) > `1`", ("calls",)),
        ("tool_calls[].arguments.x", ("arguments", "calls")),
        ("tool_calls[?status == 'error'].result", ("calls", "errors", "results")),
        ("max(tool_calls[].duration_ms)", ("calls", "times")),
        ("errors[0].tool", ("calls", "errors")),
        ("@ | keys(@)", ("calls",)),
        ("metadata.tool_call_count", ("calls",)),
        ("metadata.total_tokens", ("usage",)),
        ("cost.usd", ("cost",)),
    ],
)
def test_expression__needs_the_evidence_it_reads(expression, kinds):
    assert query_evidence(Query(expression)) == kinds
