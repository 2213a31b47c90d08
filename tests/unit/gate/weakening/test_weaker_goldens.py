"""Which requirements of a golden got weaker."""

from __future__ import annotations

import pytest
from assess_assertion import compile_assertion
from golden_builders import golden

from evalgate.gate.weakening.weaker_checks import find_golden_weakenings, list_assigned_assertions
from evalgate.scoring.golden.rules import GoldenRules, Weights

WHAT = golden(("hi", "Hello!"), ("bye", "Bye!"), required_tool_usage=["a", "a", "b"])
OLD = GoldenRules(WHAT, is_strict=True)


def list_weakenings(new, old=OLD):
    return [(each.kind, each.baseline, each.current) for each in find_golden_weakenings(old, new)]


def test_same_golden__is_not_weaker():
    assert list_weakenings(OLD) == []


def test_more_requirements__are_not_weaker():
    more = golden(("hi", "Hello!"), ("bye", "Bye!"), required_tool_usage=["b", "a", "c", "a"])
    assert list_weakenings(GoldenRules(more, is_strict=True)) == []


def test_turns_with_higher_equal_weights__are_not_weaker():
    longer = golden(("hi", "Hello!"), ("bye", "Bye!"), ("", ""), required_tool_usage=["a", "a", "b"])
    assert list_weakenings(GoldenRules(longer, is_strict=True, turn_weights=[3, 3, 3])) == []


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (None, ("check_removed", "golden conversation", None)),
        (GoldenRules(WHAT), ("check_loosened", "strict: true", "strict: false")),
        (GoldenRules(WHAT, is_strict=True, agent="root"), ("check_replaced", 'agent: "any"', 'agent: "root"')),
        (
            GoldenRules(
                golden(("hey", "Hello!"), ("bye", "Bye!"), required_tool_usage=["a", "a", "b"]),
                is_strict=True,
            ),
            ("check_replaced", 'user_messages: "hi"', 'user_messages: "hey"'),
        ),
        (
            GoldenRules(WHAT, is_strict=True, turn_weights=[1, 0]),
            ("weight_lowered", "turn_weights: [1.0,1.0]", "turn_weights: [1,0]"),
        ),
        (
            GoldenRules(WHAT, is_strict=True, turn_weights=[9]),
            ("weight_lowered", "turn_weights: [1.0,1.0]", "turn_weights: [9,1.0]"),
        ),
        (
            GoldenRules(golden(("hi", "Hello!"), ("bye", "Bye!"), required_tool_usage=["a", "b"]), is_strict=True),
            ("check_removed", 'required_tool_usage: "a"', None),
        ),
        (
            GoldenRules(golden(("hi", "Hi."), ("bye", "Bye!"), required_tool_usage=["a", "a", "b"]), is_strict=True),
            ("check_replaced", 'golden_responses: "Hello!"', 'golden_responses: "Hi."'),
        ),
        (
            GoldenRules(golden(("hi", "Hello!"), required_tool_usage=["a", "a", "b"]), is_strict=True),
            ("check_removed", 'golden_responses: "Bye!"', None),
        ),
        (
            GoldenRules(WHAT, is_strict=True, warning_threshold=0),
            ("check_loosened", "warning_threshold: 0.75", "warning_threshold: 0"),
        ),
        (
            GoldenRules(WHAT, is_strict=True, left_out=frozenset({"tone"})),
            ("check_removed", "evaluate_tone: true", "evaluate_tone: false"),
        ),
        (
            GoldenRules(WHAT, Weights(tools=0.20, completeness=0.10), is_strict=True),
            ("weight_lowered", "weight: 0.25", "weight: 0.2"),
        ),
    ],
)
def test_a_weaker_requirement__is_reported(new, expected):
    assert list_weakenings(new) == [expected]


def test_other_memory_tools__are_reported():
    old = GoldenRules(WHAT, memory_tools=["recall"])
    expected = ("check_replaced", 'memory_tools: ["recall"]', 'memory_tools: ["*"]')
    assert list_weakenings(GoldenRules(WHAT, memory_tools=["*"]), old) == [expected]


def test_assigned_assertions__are_compared_once():
    tone, cost = compile_assertion({"type": "not_empty"}), compile_assertion({"type": "not_empty", "required": True})
    rules = GoldenRules(WHAT, assigned={"tone_adherence": [tone], "factual_accuracy": [cost]})
    assert list_assigned_assertions(rules) == [tone]
    assert list_assigned_assertions(None) == []
