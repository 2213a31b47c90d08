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
CLOSED_SETS = {
    "tool_calls[?status == 'failed']": "ok, error, missing, unknown",
    "tool_calls[?status != 'success'].name": "ok, error, missing, unknown",
    "tool_calls[?'OK' == status]": "ok, error, missing, unknown",
    "contains(tool_calls[].status, 'failed')": "ok, error, missing, unknown",
    'tool_calls[?contains(`["failed", "error"]`, status)]': "ok, error, missing, unknown",
    "tool_calls[?starts_with(status, 'fail')]": "ok, error, missing, unknown",
    "turns[?role == 'asistant'].content": "system, user, assistant, tool",
    "tool_calls[?requestor == 'agent']": "assistant, user",
    "metadata.status == 'failed'": "ok, error, incomplete",
    "evidence.calls == 'full'": "complete, partial, missing",
    "[usage.source == 'sum', cost][0]": "recorded_total, inference_sum, agent_span, none",
}
OPERATORS = {
    "another word": {"path": "metadata.status", "ne": "failed"},
    "none of the words": {"path": "metadata.status", "not_in": ["failed", "crashed"]},
    "a pattern": {"not": {"path": "metadata.status", "regex": "^fail"}},
    "a part": {"not": {"path": "metadata.status", "contains": "fail"}},
    "in a list": {"not": {"path": "tool_calls[].status", "contains": "failed"}},
    "of one call": {"path": "tool_calls[0].status", "ne": "failed"},
    "evidence": {"path": "evidence.calls", "ne": "full"},
    "all words": {"path": "metadata.status", "in": ["ok", "error", "incomplete"]},
}
CALLED = {
    "a filter": {"path": "tool_calls[?name == 'delete-user']", "length": 0},
    "contains": {"not": {"path": "tool_calls[].name", "contains": "DeleteUser"}},
    "one of two operands": {"path": "contains(tool_calls[].name, 'delete-user')", "eq": False},
    "the tool of an error": {"path": "errors[?tool == 'delete-user']", "length": 0},
    "what was executed": {"path": "tool_calls[?executed.name == 'delete-user']", "length": 0},
    "a list of names": {"path": "tool_calls[0].name", "not_in": ["delete-user"]},
    "in a group": {"any_of": [{"path": "tool_calls[?name == 'delete-user']", "length": 0}]},
    "a condition": {
        "when": {"path": "length(tool_calls[?name == 'delete-user'])", "gt": 0},
        "then": [{"type": "not_empty"}, {"type": "tool_called", "tool": "lookup"}],
    },
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
    "tool_calls[?status == 'error' || status != 'ok']",
    "tool_calls[?starts_with(status, 'err') && error.type == 'failed']",
    "turns[?role == 'assistant' && name == 'x' && agent != 'y']",
    "metadata.agent.status == 'failed'",
    "tool_calls[?arguments.status == 'failed' && result.role != 'x']",
    "metadata.custom.status == 'failed'",
    "metadata.stopped_by == 'turns'",
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


@pytest.mark.parametrize("expression", CLOSED_SETS)
def test_a_comparison_with_a_value_that_no_trace_has_is_an_error_with_those_it_may_have(expression):
    with pytest.raises(FieldProblemError) as caught:
        compile_query(expression, "path")
    assert caught.value.problem.hint == f"it is one of {CLOSED_SETS[expression]}"


def _judge(folder, *checks):
    calls = trace("done", tools=("lookup", "delete_user"))
    write(folder, {"evals/s.yaml": suite(*checks), "traces/a.json": calls})
    return evalgate(folder, ["evals/s.yaml"])


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_that_says_the_same_of_all_values_there_can_be_is_an_error(tmp_path, name):
    ran = _judge(tmp_path, OPERATORS[name])
    assert ran.code == WRONG_INPUT
    assert "says the same of every trace" in ran.stderr


@pytest.mark.parametrize("name", CALLED)
def test_a_misspelt_tool_in_an_expression_is_named_below_the_heading(tmp_path, name):
    ran = _judge(tmp_path, CALLED[name], {"contains": "done"})
    assert ran.code == 0, ran.stdout
    assert "did you mean ` delete_user `?" in ran.text("comment.md").split("###")[0]


PARTS = {
    "tool_calls[?starts_with(name, 'delet_')]": "delete*",
    "tool_calls[?ends_with(name, '_usr')]": "*_user",
    "tool_calls[?contains(name, 'dlete')]": "*delete*",
    "tool_calls[?starts_with(executed.name, 'delet_') || starts_with(name, 'x')]": "delete*",
}


@pytest.mark.parametrize("expression", PARTS)
def test_a_misspelt_part_of_a_name_is_named_below_the_heading(tmp_path, expression):
    ran = _judge(tmp_path, {"path": expression, "length": 0}, {"contains": "done"})
    assert ran.code == 0, ran.stdout
    assert f"did you mean ` {PARTS[expression]} `?" in ran.text("comment.md").split("###")[0]


@pytest.mark.parametrize(
    "check",
    [
        {"path": "tool_calls[?starts_with(name, 'delete_')]", "length": 1},
        {"path": "tool_calls[?starts_with(name, 'remove_')]", "length": 0},
        {"path": "tool_calls[?contains(name, 'user')]", "length": 1},
        {"path": "tool_calls[?starts_with(arguments.note || '', 'delet_')]", "length": 0},
        {"path": "tool_calls[?name == 'delete_user' || name == 'deleteUser']", "length": 1},
        {"path": "tool_calls[?name == 'remove_account']", "length": 0},
        {"path": "tool_calls[?arguments.name == 'delete-user']", "length": 0},
        {"path": "tool_calls[].name", "contains": "delete_user"},
        {"path": "metadata.status", "eq": "ok"},
        {"path": "metadata.status", "regex": "^(ok|incomplete)$"},
        {"path": "tool_calls[].status", "contains": "ok"},
        {"path": "turns[].role", "eq": ["user", "assistant", "tool", "assistant", "tool", "assistant"]},
    ],
)
def test_a_name_that_is_no_misspelt_one_is_no_warning(tmp_path, check):
    ran = _judge(tmp_path, {**check, "required": True})
    assert (ran.code, ran.results["warnings"]) == (0, [])
