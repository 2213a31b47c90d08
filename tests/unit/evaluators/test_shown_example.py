"""`evalgate evaluators NAME` ends with an assertion that can be copied into a suite."""

from __future__ import annotations

import pytest
import yaml
from assess_assertion import assess, compile_assertion
from builders import make_trace
from in_process_command import evalgate

from evalgate.evaluators.core.registry import BUILT_IN_TYPES
from evalgate.reporting.text.sentences import unmark_parts


@pytest.mark.parametrize("name", BUILT_IN_TYPES)
def test_the_example_of_an_evaluator_is_valid(name: str) -> None:
    done = evalgate("evaluators", name)
    line = next(line for line in done.out.splitlines() if line.startswith("- "))
    (example,) = yaml.safe_load(line)
    assert example["type"] == name
    assert compile_assertion(example).type == name


def test_a_recorded_score_shows_that_its_name_is_required() -> None:
    text = evalgate("evaluators", "recorded_score").out
    assert next(line for line in text.splitlines() if line.startswith("  ")).split()[:2] == ["name", "required"]
    assert "- {type: recorded_score, name: reward}\n" in text


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({"reward": 1, "b": 0.5}, 'this trace has no numeric score "rewards"; it has "b", "reward"'),
        ({}, 'this trace has no numeric score "rewards", and no other'),
        ({f"s{number:02}": 1 for number in range(12)}, '"s08", "s09" and 2 more'),
    ],
)
def test_a_score_that_is_not_found_names_those_that_the_trace_has(scores: dict[str, float], reason: str) -> None:
    found = assess({"type": "recorded_score", "name": "rewards"}, make_trace(scores=scores))
    assert found.outcome == "not_evaluable"
    assert unmark_parts(found.reason).endswith(reason)
