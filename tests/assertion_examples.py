"""Example settings of every evaluator, and generated traces with more or less evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assess_assertion import compile_assertion
from builders import make_call, make_message, make_trace
from hypothesis import strategies as st

from evalgate.evaluators.core.operators import OPERATORS
from evalgate.models.trace.trace import Cost, Latency, Trace

if TYPE_CHECKING:
    from evalgate.evaluators.core.assertion import Assertion

VALUE_OF = {
    "contains": "a",
    "eq": "a",
    "exists": True,
    "in": ["a", 1],
    "length": {"gte": 1},
    "matches_schema": {"type": "string"},
    "ne": "a",
    "not_in": ["a", 1],
    "regex": "^a",
}
PATHS = [
    "response.content",
    "metadata.cost_usd",
    "tool_calls[0].arguments",
    "metadata.steps[*].content",
    "scores.s",
]
STEPS = [
    "a",
    {"tool": "b", "args": {"q": {"$regex": "a"}}, "status": "ok"},
    {"one_of": ["a", "b"], "optional": True},
]
TEXT_KINDS: dict[str, dict[str, Any]] = {
    "contains": {"value": "a"},
    "contains_all": {"values": ["a", "b"]},
    "contains_any": {"values": ["a", "b"]},
    "ends_with": {"value": "a"},
    "equals": {"value": "a"},
    "icontains": {"value": "A"},
    "is_json": {"schema": {"type": "object"}},
    "is_refusal": {},
    "max_length": {"max": 2},
    "min_length": {"min": 2},
    "not_empty": {},
    "output_contains": {"pattern": "[ab]"},
    "output_json": {"path": ".a.0", "operator": "gte", "target": 1},
    "output_numeric": {"operator": "lt", "target": 5},
    "convergence": {"target": 5, "direction": "minimize", "previous": 7},
    "regex": {"pattern": "a|b"},
    "similarity": {"metric": "levenshtein", "reference": "ab", "min_score": 0.5},
    "starts_with": {"value": "a"},
}
BY_TIMING = ("has_timing", "staggered_timing", "is_recurring")

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    **{kind: [fields] for kind, fields in TEXT_KINDS.items()},
    "allowed_tools": [{"tools": ["a"]}, {"tools": []}],
    "convergence": [
        TEXT_KINDS["convergence"],
        {"target": 5, "direction": "maximize"},
        {
            "target": 1,
            "direction": "minimize",
            "previous": "${trial.metadata.turn_count}",
            "source": "scores.s",
        },
    ],
    "cost_limit": [{"max_usd": 1}],
    "exit_code": [{"source": {"tool": "a"}}, {}],
    "expected_tool": [
        {"tool": "a", "min_calls": 2},
        {"tool": "a", "action": "x"},
        {"expected_tool": None},
        {"expected_tool": None, "tool": "a", "action": "x"},
    ],
    "finish_reason": [{"in": ["stop"]}],
    "forbidden_tools": [{"tools": ["b*"]}],
    "grounded_arguments": [
        {"tools": ["a"]},
        {"tools": ["*"], "arguments": ["q"], "from": ["user"], "allow": {"q": [1]}},
    ],
    **{kind: [{"tool": "a"}, {"tool": "a", "action": "x"}] for kind in BY_TIMING},
    "jmespath": [
        {"expression": path, "operator": operator, "value": VALUE_OF.get(operator, 1)}
        for path in PATHS
        for operator in OPERATORS
    ],
    "latency_limit": [{"max_seconds": 1}],
    "max_tool_calls": [{"max": 1}],
    "max_tool_errors": [{"max": 0}],
    "no_flow": [{"from": {"tools": ["b"]}, "to": {"tools": ["a"], "arguments": ["q"]}, "unless": {"tool_called": "c"}}],
    "no_loops": [{"max_repeats": 1}],
    "no_run_code": [{}],
    "no_tool": [{"tool": "a"}, {"tool": "a", "action": "x"}],
    "expected_skill": [{"expected_skill": "pdf"}, {"expected_skill": None}],
    "no_skill": [{}, {"skill": ["pdf*", "b"]}],
    "output_contains": [{"pattern": "[ab]"}, {"value": "a", "source": {"tool": "a", "index": 0}}],
    "recorded_score": [{"name": "s", "min": 0.5}],
    "similarity": [
        {"metric": metric, "reference": "a b", "min_score": 0.5}
        for metric in ("jaccard", "levenshtein", "rouge_l", "bleu")
    ],
    "skill_used": [{"skill": "pdf*"}, {"skill": "pdf", "before": "b", "files": ["forms.md"]}],
    "files_changed": [{"only": ["a"]}, {"never": ["b"], "max": 1}],
    "state": [
        {"path": path, "operator": operator, "value": VALUE_OF.get(operator, 1)}
        for path in ("q", "length(q)")
        for operator in OPERATORS
    ],
    "state_unchanged": [{}, {"except": ["q.*"]}],
    "token_limit": [{"max_total": 5}, {"max_input": 5, "max_output": 5}],
    "tool_arguments": [{"tool": "a"}, {"tool": "a", "schema": {"required": ["q"]}}],
    "tool_called": [{"tool": "a"}],
    "tool_calls": [{"tool": "a", "min": 1, "max": 2}, {"forbidden_tools": ["b"], "max_tool_errors": 1}],
    "tool_latency_limit": [{"tool": "a", "max_seconds": 1}],
    "tool_sequence": [
        {"sequence": STEPS, "mode": mode, "extra_calls": extra}
        for mode in ("exact", "in_order", "any_order")
        for extra in ("allow", "forbid")
    ]
    + [{"sequence": [STEPS]}, {"sequence": [], "extra_calls": "forbid"}],
    "trajectory_score": [
        {"metric": metric, "reference": ["a", "b"], "min_score": 0.5}
        for metric in ("precision", "recall", "f1", "lcs", "exact", "in_order", "any_order")
    ],
    "turn_limit": [{"max_turns": 1}],
}
ALL = [{"type": kind, **fields} for kind, examples in EXAMPLES.items() for fields in examples]
PARSED: dict[str, Assertion] = {}


def parse_assertion(raw: Any) -> Assertion:
    """The parsed assertion, cached: parsing takes most of the time of a short check."""
    key = repr(raw)
    if key not in PARSED:
        PARSED[key] = compile_assertion(raw)
    return PARSED[key]


def negated_forms(raw: Any) -> list[Any]:
    """Each way to negate the assertion."""
    return [{"not": raw}, {**raw, "negate": True}, {"not": {"all_of": [raw]}}, {"not": {"any_of": [raw]}}]


TEXTS = st.sampled_from(["", "a", "ab", "5", "nan", '{"a":[1]}', "I can't help with that.", "a\nb", "\x00é\u202e😀"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["q", "action", "when", "delay_seconds", "recurring"]), inner, max_size=3)
    ),
    max_leaves=5,
)
FILES = st.dictionaries(st.sampled_from("ab"), st.fixed_dictionaries({}, optional={"change": st.just("added")}))
AMOUNTS = st.none() | st.sampled_from([0, 0.5, 1, 1e308, 10**30])


@st.composite
def any_call(draw: Any) -> Any:
    """A call as readers may leave it, with more or less in it."""
    call: Any = make_call(draw(st.sampled_from(["a", "b", "run_code", "c\nd"])), index=draw(st.integers(0, 3)))
    call["arguments"] = draw(JSON)
    call["arguments_error"] = draw(st.none() | TEXTS)
    call["arguments_raw"] = draw(st.none() | TEXTS)
    call["result"], call["result_text"] = draw(JSON), draw(st.none() | TEXTS)
    call["status"] = draw(st.sampled_from(["ok", "error", "missing"]))
    call["exit_code"] = draw(st.none() | st.integers())
    call["duration_ms"] = draw(AMOUNTS)
    call["requestor"] = draw(st.sampled_from(["assistant", "user"]))
    return call


@st.composite
def any_trace(draw: Any) -> Trace:
    """A trace as readers may leave it, each part there or not."""
    trace: Trace = make_trace(calls=draw(st.lists(any_call(), max_size=4)), response=draw(st.none() | TEXTS))
    if draw(st.booleans()):
        trace.messages = draw(st.lists(st.builds(make_message, content=st.none() | TEXTS), max_size=2))
    trace.response["finish_reason"] = draw(st.none() | TEXTS)
    trace.tool_definitions = draw(
        st.lists(st.builds(dict, name=st.sampled_from(["a", "b"]), parameters=JSON), max_size=2)
    )
    for name in ("input_tokens", "output_tokens", "total_tokens"):
        trace.usage[name] = draw(st.none() | st.integers(0, 10**30))
    trace.cost = Cost(usd=draw(AMOUNTS), source="recorded")
    trace.latency = Latency(total_ms=draw(AMOUNTS), source="recorded")
    trace.evaluations = [
        {
            "name": "s",
            "score_value": draw(AMOUNTS),
            "score_label": None,
            "explanation": None,
            "source": draw(st.none() | TEXTS),
        }
        for _ in range(draw(st.integers(0, 2)))
    ]
    trace.metadata = {"x": draw(JSON)}
    trace.state = draw(st.none() | st.fixed_dictionaries({}, optional={"before": JSON, "after": JSON, "files": FILES}))
    assertion = {"name": "a", "type": "convergence", "evidence": draw(JSON)}
    trace.baseline = draw(st.sampled_from([None, {"trials": []}, {"trials": [{"assertions": [assertion]}]}]))
    return trace
