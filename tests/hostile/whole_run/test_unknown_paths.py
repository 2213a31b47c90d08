"""An expression that no trace can answer is an error with a suggestion, not a check that always holds."""

from __future__ import annotations

import pytest
from command import WRONG_INPUT, evalgate

from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.queries import compile_query
from hostile.suite_edits import suite, trace, write

MISSPELT = {
    "tool_callz": "tool_calls",
    "length(errrors || `[]`)": "errors",
    "usage.total_token": "total_tokens",
    "latency.total": "total_ms",
    "cost.uds": "usd",
    "response.contnt": "content",
    "evidence.cals": "calls",
    "evaluations[].score_valu": "score_value",
    "[tool_calls, llm_call][]": "llm_calls",
    "max([usage.input_tokens, usage.ouput_tokens])": "output_tokens",
    "metdata.custom": "metadata",
    "turn_count": "metadata.turn_count",
    "messages[0].content": "turns",
    "content": "response.content",
    "tool_calls.name": "[].name",
    "tool_calls[].arguments | id": "[].id",
}
KNOWN = [
    "metadata.anything.at.all",
    "response.json.anything",
    "response.json[].anything | [0]",
    "scores.anything",
    "evaluations[?name == 'x'].score_value",
    "usage.total_tokens",
    "cost.known_usd",
    "latency.total_ms",
    "response.text",
    "evidence.calls",
    "length(tool_calls[?name == 'x'])",
    "tool_calls[].arguments.anything | [0]",
    "tool_calls[0].result.anything",
    "@.tool_calls",
    "keys(@)",
    "{calls: tool_calls, own: metadata.anything}.own.more",
]


@pytest.mark.parametrize("expression", MISSPELT)
def test_a_field_that_no_trace_has_is_an_error_with_the_right_one(expression):
    with pytest.raises(FieldProblemError) as caught:
        compile_query(expression, "path")
    assert f"`{MISSPELT[expression]}`" in (caught.value.problem.hint or "")


@pytest.mark.parametrize("expression", KNOWN)
def test_a_field_that_a_trace_may_have_is_accepted(expression):
    compile_query(expression, "path")


@pytest.mark.parametrize(
    "expression", ["baseline.trials[0].anything", "trial.metadata.anything", "[baseline.x, trial]"]
)
def test_a_previous_value_reads_the_baseline_and_the_trial(expression):
    compile_query(expression, "previous", "previous")


@pytest.mark.parametrize("expression", ["trial.metdata.custom.before", "trial.usage.total_token", "baselin.score"])
def test_a_previous_value_of_a_misspelt_section_is_an_error(expression):
    with pytest.raises(FieldProblemError) as caught:
        compile_query(expression, "previous", "previous")
    assert "did you mean" in (caught.value.problem.hint or "")


@pytest.mark.parametrize(
    ("part", "hint"),
    [
        ({"assertions": [{"path": "tool_callz", "exists": False, "required": True}]}, "did you mean `tool_calls`?"),
        ({"match": {"where": "metdata.team == 'a'"}, "assertions": ["not_empty"]}, "did you mean `metadata`?"),
    ],
)
def test_a_suite_with_a_misspelt_section_is_invalid(part, hint, tmp_path):
    written = suite({"type": "not_empty"})
    written["scenarios"][0] |= part
    write(tmp_path, {"evals/s.yaml": written, "traces/a.json": trace("done")})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == WRONG_INPUT
    assert hint in ran.stderr
