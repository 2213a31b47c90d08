from __future__ import annotations

import json

import pytest
from damage import damage_document, nest_lists
from hypothesis import given, settings

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.swe_agent import reader as swe_agent
from evalgate.errors import TraceError
from evalgate.models.trace.trace import TraceLocation

STATS = {"instance_cost": 0.25, "tokens_sent": 900, "tokens_received": 80, "api_calls": 2}


def make_message(role, content, **fields):
    return {"role": role, "content": content, "agent": "main", **fields}


def acted(content, action, **fields):
    return make_message("assistant", content, thought=content, action=action, **fields)


def step(action, observation, **fields):
    return {"action": action, "observation": observation, "response": f"I {action}", **fields}


def in_text(**fields):
    return {
        "environment": "swe_main",
        "trajectory": [step("ls -F\n", "setup.py", execution_time=0.25), step("submit\n", "diff --git a b")],
        "history": [
            make_message("system", "You are a programmer."),
            make_message("user", "Fix the bug.", message_type="observation"),
            acted("Look.\n```\nls -F\n```", "ls -F\n"),
            make_message("user", "setup.py\n(Open file: n/a)"),
            acted("Done.\n```\nsubmit\n```", "submit\n"),
        ],
        "info": {"exit_status": "submitted", "submission": "diff --git a b", "model_stats": STATS},
        **fields,
    }


def with_tools(**fields):
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}},
    ]
    return {
        "trajectory": [step("ls", "setup.py"), step("submit", "diff")],
        "history": [
            make_message("system", "You are a programmer."),
            make_message("user", "Fix the bug."),
            acted("Look.", "ls", tool_calls=calls),
            make_message("tool", "setup.py", tool_call_ids=["c1"]),
        ],
        "info": {"exit_status": "submitted", "submission": "diff", "model_stats": STATS},
        "replay_config": {
            "problem_statement": {"id": "repo__issue-1", "type": "text"},
            "agent": {"model": {"name": "gpt-4o", "api_key": "sk-planted"}},
        },
        **fields,
    }


def test_an_action_in_text_is_a_call_named_by_its_first_word():
    trace = swe_agent.build(in_text())
    assert [call["name"] for call in trace.tool_calls] == ["ls", "submit"]
    assert trace.tool_calls[0]["arguments"] == {"command": "ls -F"}
    assert trace.tool_calls[0]["duration_ms"] == 250


def test_messages_of_the_environment_are_results_and_not_input():
    trace = swe_agent.build(in_text())
    assert trace.tool_calls[0]["result_text"] == "setup.py\n(Open file: n/a)"
    assert [message["role"] for message in trace.messages] == [
        *("system", "user", "assistant", "tool", "assistant", "tool"),
    ]
    assert trace.turn_count == 1


def test_the_last_result_is_only_in_the_trajectory():
    assert swe_agent.build(in_text()).tool_calls[-1]["result_text"] == "diff --git a b"


def test_the_submission_is_the_final_response():
    trace = swe_agent.build(in_text())
    assert trace.response["content"] == "diff --git a b"
    assert trace.messages[trace.response["message_index"]]["content"].startswith("Done.")


def test_without_a_submission_the_last_text_is_the_final_response():
    info = {"exit_status": "exit_cost", "submission": None, "model_stats": STATS}
    assert swe_agent.build(in_text(info=info)).response["content"].startswith("Done.")


def test_tokens_and_cost_are_those_of_the_run():
    trace = swe_agent.build(in_text())
    assert trace.usage["input_tokens"] == 900
    assert trace.usage["total_tokens"] == 980
    assert trace.cost == {"usd": 0.25, "source": "recorded"}
    assert trace.latency["total_ms"] is None


def test_zeros_of_a_replay_are_unknown():
    stats = dict.fromkeys(STATS, 0)
    info = {"exit_status": "submitted", "submission": "x", "model_stats": stats}
    trace = swe_agent.build(in_text(info=info))
    assert trace.cost["usd"] is None
    assert trace.usage["total_tokens"] is None
    assert [warning["code"] for warning in trace.warnings] == ["zero_cost"]


def test_calls_of_tools_keep_name_and_arguments():
    trace = swe_agent.build(with_tools())
    assert trace.tool_calls[0]["name"] == "bash"
    assert trace.tool_calls[0]["arguments"] == {"command": "ls"}
    assert trace.tool_calls[0]["result_text"] == "setup.py"


def test_a_step_that_only_the_trajectory_has_follows_the_history():
    trace = swe_agent.build(with_tools())
    assert [call["name"] for call in trace.tool_calls] == ["bash", "submit"]
    assert trace.tool_calls[-1]["result_text"] == "diff"
    assert trace.messages[-2]["content"] == "I submit"


def list_calls(trace):
    return [(call["name"], call["result_text"]) for call in trace.tool_calls]


def test_actions_that_only_the_trajectory_has_are_calls_with_their_results():
    steps = [step("ls -F", "setup.py"), step("rm -rf data", "removed"), step("submit", "x"), step("exit", "bye")]
    trace = swe_agent.build(in_text(trajectory=steps))
    found = [("ls", "setup.py\n(Open file: n/a)"), ("rm", "removed"), ("submit", "x"), ("exit", "bye")]
    assert list_calls(trace) == found
    assert [message["role"] for message in trace.messages][2:] == ["assistant", "tool"] * 4


def test_actions_that_differ_are_all_calls():
    trace = swe_agent.build(in_text(trajectory=[step("pwd", "/"), step("submit", "x")]))
    assert sorted(call["name"] for call in trace.tool_calls) == ["ls", "pwd", "submit"]


def test_an_answer_without_an_action_has_that_of_its_step():
    history = [make_message("user", "Fix it."), make_message("assistant", "Look."), make_message("user", "setup.py")]
    trace = swe_agent.build(in_text(history=history, trajectory=[step("ls", "setup.py"), step("submit", "x")]))
    assert list_calls(trace) == [("ls", "setup.py"), ("submit", "x")]


@pytest.mark.parametrize(
    ("answers", "steps", "count"),
    [
        (["", "ls"], ["ls"], 1),
        (["ls", "", "ls"], ["ls", "ls"], 2),
        (["ls"] * 3, ["ls"] * 5, 5),
        (["a", "b", "c"], ["c"], 3),
        (["c"], ["a", "b", "c"], 3),
        ([], ["a", "b"], 2),
        (["a", "x", "b"], ["a", "y", "b"], 4),
    ],
)
def test_no_action_is_lost_or_counted_twice(answers, steps, count):
    history = [make_message("user", "Fix it."), *(acted("I act.", action) for action in answers)]
    trace = swe_agent.build(in_text(history=history, trajectory=[step(action, "done") for action in steps]))
    assert len(trace.tool_calls) == count


def test_an_unknown_field_of_a_step_may_hold_calls():
    steps = [step("ls -F", "setup.py", forked={"run": ["rm -rf data"]})]
    found = read_record(swe_agent.READER, in_text(trajectory=steps), TraceLocation("a.traj"), "a.traj")
    assert "`trajectory[0].forked`" in found.gaps["calls"]


def test_problem_and_model_come_from_the_settings_and_no_key_does():
    trace = swe_agent.build(with_tools())
    assert (trace.scenario_id, trace.model) == ("repo__issue-1", "gpt-4o")
    assert "sk-planted" not in repr(trace)
    assert swe_agent.identify(with_tools()) == ("repo__issue-1", None)


def test_settings_may_be_json_in_text():
    written = json.dumps(with_tools()["replay_config"])
    assert swe_agent.build(with_tools(replay_config=written)).scenario_id == "repo__issue-1"


def test_a_replaying_model_is_not_a_model():
    replayed = {"agent": {"model": {"name": "replay"}}}
    assert swe_agent.build(with_tools(replay_config=replayed)).model is None


def test_a_demonstration_is_neither_an_input_nor_an_act():
    history = in_text()["history"]
    shown = [make_message("user", "Here is a demonstration", is_demo=True), acted("x", "rm -rf /", is_demo=True)]
    trace = swe_agent.build(in_text(history=[history[0], *shown, *history[1:]]))
    assert [call["name"] for call in trace.tool_calls] == ["ls", "submit"]
    assert trace.turn_count == 1
    assert next(m["content"] for m in trace.messages if m["role"] == "user") == "Fix the bug."


def test_a_demonstration_alone_has_a_history_and_nothing_else():
    trace = swe_agent.build({"history": in_text()["history"]})
    assert trace.status == "ok"
    assert [call["status"] for call in trace.tool_calls] == ["ok", "missing"]
    assert [warning["code"] for warning in trace.warnings] == ["results_missing"]


def test_an_answer_without_an_action_gets_no_result():
    history = [*in_text()["history"][:2], acted("Hm.", ""), make_message("user", "Your output was not formatted.")]
    trace = swe_agent.build({"history": history})
    assert trace.tool_calls == []
    assert trace.messages[-1]["role"] == "user"
    assert trace.turn_count == 1


@pytest.mark.parametrize(
    ("status", "outcome", "reason"),
    [
        ("submitted", "ok", "stop"),
        ("exit_forfeit", "ok", "stop"),
        ("exit_cost", "incomplete", "exit_cost"),
        ("submitted (exit_context)", "incomplete", "submitted (exit_context)"),
        ("exit_error", "error", "exit_error"),
        (None, "incomplete", None),
    ],
)
def test_how_a_run_ended_is_read(status, outcome, reason):
    trace = swe_agent.build(in_text(info={"exit_status": status}))
    assert (trace.status, trace.finish_reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("command", "name"),
    [("PAGER=cat git diff", "git"), ("./rock\n", "./rock"), ("A=1", "shell"), ("cd a && ls", "cd")],
)
def test_the_name_of_a_command_is_its_program(command, name):
    history = [*in_text()["history"][:2], acted("x", command)]
    assert swe_agent.build({"history": history}).tool_calls[0]["name"] == name


def test_an_unknown_role_is_refused_with_its_path():
    with pytest.raises(TraceError, match=r"history\[0\]\.role is not one of system"):
        swe_agent.build({"history": [make_message("robot", "hi")], "trajectory": []})


def test_content_identifies_the_format():
    assert detect.detect_format([in_text()]).name == "swe-agent"
    assert detect.detect_format([with_tools()]).name == "swe-agent"
    assert detect.detect_format([{"history": in_text()["history"]}]).name == "swe-agent"


def test_a_record_nested_too_deep_is_refused():
    with pytest.raises(TraceError, match="64 levels"):
        swe_agent.build(in_text(info={"x": nest_lists(70)}))


@settings(max_examples=150)
@given(damage_document(in_text()) | damage_document(with_tools()))
def test_any_damage_gives_a_trace_or_a_reason(record):
    swe_agent.identify(record)
    detect.find_claiming_format(record)
    try:
        swe_agent.build(record)
    except TraceError as error:
        assert "\n" not in str(error)


def test_a_step_without_a_field_for_the_action_is_a_gap():
    record = in_text()
    record["trajectory"][0]["action_v2"] = record["trajectory"][0].pop("action")
    assert swe_agent.build(record).gaps["calls"].startswith("`trajectory[0]` has no `action`")
