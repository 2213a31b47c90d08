"""`evalgate evaluators` describes what a suite may use, and what replaces the checks of other tools."""

from __future__ import annotations

import pytest
from in_process_command import evalgate

from evalgate.evaluators.core.other_tools import find_equivalent
from evalgate.evaluators.core.registry import BUILT_IN_TYPES


def test_an_evaluator_is_described_with_its_settings() -> None:
    done = evalgate("evaluators", "tool_sequence")
    lines = [line.split() for line in done.out.splitlines()]
    assert (done.exit_code, done.err) == (0, "")
    assert done.out.startswith("The agent makes the calls of `sequence`.\n")
    assert ["sequence", "required", "The", "expected", "calls,", "in", "order;"] in [line[:7] for line in lines]
    assert ["mode", "default", '"in_order"', "The", "same", "calls,"] in [line[:6] for line in lines]
    assert "to forbid that, add `not: {type: tool_sequence, sequence: [B, A]}`" in done.out
    assert "and as for all evaluators: name, weight, required" in done.out


@pytest.mark.parametrize(
    ("name", "words"),
    [("output_json", "eq, ne, lt, lte, gt or gte"), ("output_contains", "as `{tool: NAME}`, or a path")],
)
def test_a_setting_is_described_with_its_values_or_shape(name: str, words: str) -> None:
    assert words in evalgate("evaluators", name).out


@pytest.mark.parametrize("name", BUILT_IN_TYPES)
def test_every_evaluator_can_be_described(name: str) -> None:
    done = evalgate("evaluators", name)
    assert (done.exit_code, done.err) == (0, "")
    assert "Undefined" not in done.out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("llm-rubric", "check it with `recorded_score`"),
        ("GEval", "check it with `recorded_score`"),
        ("javascript", "write a custom evaluator in Python"),
        ("ToolCorrectnessMetric", "or `trajectory_score`"),
        ("trajectory:tool-used", "use `tool_called`"),
        ("similar", "use `similarity`"),
        ("tool_seqence", "did you mean `tool_sequence`?"),
        ("contains-all", "did you mean `contains_all`?"),
    ],
)
def test_a_check_of_another_tool_gets_what_to_use_instead(name: str, hint: str, tmp_path) -> None:
    done = evalgate("evaluators", name)
    assert (done.exit_code, done.err.count("\n")) == (2, 1)
    assert hint in done.err
    suite = tmp_path / "suite.yaml"
    suite.write_text(f"suite: s\nscenarios: [{{id: a, assertions: [{{type: '{name}', value: x}}]}}]\n")
    assert hint in evalgate("validate", str(suite)).err


def test_no_evaluator_is_taken_for_one_of_another_tool() -> None:
    assert [name for name in BUILT_IN_TYPES if find_equivalent(name)] == []
