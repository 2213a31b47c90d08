"""A function that a tracer recorded as no tool, under the name of a tool that a check forbids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hostile.whole_run.executed_calls import langfuse, otlp
from hostile.whole_run.test_asked_and_done import judge_file, second_line

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

DENY = {"type": "forbidden_tools", "tools": ["delete_user"]}
CODE = "span_like_tool"


def traced(name: str, kind: str = "SPAN", parent: str = "root") -> dict[str, Any]:
    """A trace of Langfuse in which the agent calls `look`, and another observation has this name and type."""
    record = langfuse({"order": 7})
    row = {"id": "x", "traceId": "t1", "parentObservationId": parent, "type": kind, "name": name, "level": "DEFAULT"}
    times = {"startTime": "2026-11-20T22:41:02.600Z", "endTime": "2026-11-20T22:41:02.700Z"}
    record["observations"].append({**row, **times, "input": "7", "output": "gone"})
    return record


def spans(name: str, **attributes: str) -> dict[str, Any]:
    """The same in OTLP."""
    record = otlp("look", '{"order": 7}')
    listed = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    recorded = record["resourceSpans"][0]["scopeSpans"][0]["spans"]
    recorded.append({**recorded[2], "spanId": "9" * 16, "name": name, "attributes": listed})
    return record


def runs(name: str, kind: str) -> list[dict[str, Any]]:
    """The same in LangSmith."""
    root = {"id": "r", "trace_id": "r", "name": "Helper", "run_type": "chain", "inputs": {"input": "hi"}}
    times = {"start_time": "2026-11-20T22:41:00", "end_time": "2026-11-20T22:41:09"}
    below = {**root, **times, "parent_run_id": "r"}
    return [
        {**root, **times, "outputs": {"output": "done"}},
        {**below, "id": "a", "name": "look", "run_type": "tool", "outputs": {"output": "ok"}},
        {**below, "id": "b", "name": name, "run_type": kind, "outputs": {"output": "gone"}},
    ]


def agents_sdk(name: str) -> list[dict[str, Any]]:
    at = {"started_at": "2026-11-28T10:00:00Z", "ended_at": "2026-11-28T10:00:01Z"}
    data = [{"type": "agent", "name": "Helper"}, {"type": "function", "name": "look", "input": "{}", "output": "ok"}]
    found: list[dict[str, Any]] = [{"object": "trace", "id": "t", "workflow_name": "w"}]
    for number, each in enumerate([*data, {"type": "custom", "name": name, "data": {}}]):
        found.append({"object": "trace.span", "id": f"s{number}", "trace_id": "t", "span_data": each, **at})
    return found


RECORDINGS: dict[str, Any] = {
    **{f"Langfuse {kind}": traced("delete_user", kind) for kind in ("SPAN", "EVENT", "CHAIN", "RETRIEVER")},
    **{f"Langfuse {kind}": traced("delete_user", kind) for kind in ("GUARDRAIL", "EVALUATOR", "EMBEDDING")},
    **{f"LangSmith {kind}": runs("delete_user", kind) for kind in ("chain", "retriever", "prompt", "embedding")},
    "plain span": spans("delete_user"),
    "qualified": spans("app.tools.delete_user"),
    "with words": spans("Calling app.tools.delete_user"),
    "operation": spans("execute_tool delete_user"),
    "OpenInference": spans("delete_user", openinference__span__kind="CHAIN"),
    "Traceloop": spans("delete_user.task", traceloop__span__kind="task", traceloop__entity__name="delete_user"),
    "MLflow": spans("delete_user_1", mlflow__spanType='"UNKNOWN"'),
    "Agents SDK": agents_sdk("delete_user"),
}
CHECKS = (
    {"type": "forbidden_tools", "tools": ["delete_*"]},
    {"type": "tool_calls", "tool": "delete_user", "max": 0},
    {"not": {"type": "tool_called", "tool": "delete_user"}},
    {"path": "length(tool_calls[?name == 'delete_user'])", "eq": 0},
)


def judge(folder: Path, check: Any, record: Any) -> CommandResult:
    return judge_file(folder, {**check, "required": True}, record)


def codes(ran: CommandResult) -> list[str]:
    return [each["code"] for each in ran.results["warnings"]]


@pytest.mark.parametrize("record", RECORDINGS.values(), ids=RECORDINGS)
def test_a_span_of_another_type_with_a_forbidden_name_is_named_below_the_heading(tmp_path, record):
    ran = judge(tmp_path, DENY, record)
    assert (ran.code, codes(ran).count(CODE)) == (0, 1), ran.results["warnings"]
    assert "delete_user" in second_line(ran)


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_that_denies_a_tool_is_followed_by_the_warning(tmp_path, check):
    assert codes(judge(tmp_path, check, spans("delete_user"))) == [CODE]


@pytest.mark.parametrize(
    "check",
    [
        {"type": "forbidden_tools", "tools": ["*"]},
        {"type": "forbidden_tools", "tools": ["other"]},
        {"type": "allowed_tools", "tools": ["look"]},
        {"type": "tool_called", "tool": "look"},
        {"type": "forbidden_tools", "tools": ["delete_*"], "not_meant": ["delete_user"]},
    ],
)
def test_a_span_that_no_check_names_is_no_warning(tmp_path, check):
    assert CODE not in codes(judge(tmp_path, check, spans("delete_user")))


@pytest.mark.parametrize("name", ["look", "app.look", "look_1"])
def test_the_function_of_a_called_tool_is_no_warning(tmp_path, name):
    """Many tracers record the call of a tool, and its own function below it."""
    ran = judge(tmp_path, {"type": "forbidden_tools", "tools": ["look"]}, spans(name))
    assert (ran.code, CODE in codes(ran)) == (1, False)
    limited = judge(tmp_path / "limit", {"type": "tool_calls", "tool": "look", "max": 1}, spans(name))
    assert (limited.code, limited.results["warnings"]) == (0, [])


@pytest.mark.parametrize("name", ["VectorStore.search", "research", "search the web", "GET /v1/search"])
def test_a_name_that_only_ends_with_a_forbidden_word_is_no_warning(tmp_path, name):
    assert codes(judge(tmp_path, {"type": "forbidden_tools", "tools": ["search"]}, spans(name))) == []


def test_an_allow_list_warns_of_the_functions_of_defined_tools_only(tmp_path):
    record = spans("delete_user")
    recorded = record["resourceSpans"][0]["scopeSpans"][0]["spans"]
    defined = '[{"type": "function", "name": "delete_user"}, {"type": "function", "name": "look"}]'
    recorded[1]["attributes"].append({"key": "gen_ai.tool.definitions", "value": {"stringValue": defined}})
    assert codes(judge(tmp_path, {"type": "allowed_tools", "tools": ["look"]}, record)) == [CODE]
    both = {"type": "allowed_tools", "tools": ["look", "delete_*"]}
    assert codes(judge(tmp_path / "both", both, record)) == []


def test_a_call_behind_the_name_of_a_server_is_one_warning(tmp_path):
    from hostile.whole_run.test_asked_and_done import judge as judge_calls

    assert codes(judge_calls(tmp_path, DENY, "db-delete_user")) == ["similar_tool"]
