from __future__ import annotations

import pytest
from damage import damage_document, nest_lists
from hypothesis import given, settings

from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.openhands import reader as openhands
from evalgate.errors import TraceError

AT = "2026-01-27T22:44:{:02d}.500000"


def response(response_id, *calls, words="Let me see."):
    tools = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {
        "id": response_id,
        "model": "anthropic/claude",
        "choices": [{"finish_reason": "tool_calls", "message": {"content": words, "tool_calls": tools}}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 40},
        },
    }


TWO = response("r1", ("c1", "execute_bash", '{"command": "ls"}'), ("c2", "editor", '{"path": "/a"}'))
LAST = response("r2", ("c3", "finish", "{}"), words="All done.")


def event(number, second, source="agent", **fields):
    return {"id": number, "timestamp": AT.format(second), "source": source, **fields}


def metadata(name, call_id, answer=TWO):
    return {"function_name": name, "tool_call_id": call_id, "model_response": answer}


def bare():
    bash, editor = metadata("execute_bash", "c1"), metadata("editor", "c2")
    return [
        event(0, 1, "user", action="message", args={"content": "Rename a file."}),
        event(1, 1, "environment", observation="agent_state_changed", content="", extras={}),
        event(2, 2, "user", action="recall", args={"query": "x"}),
        event(3, 3, action="run", args={"command": "ls -l", "thought": "t"}, tool_call_metadata=bash),
        event(
            4,
            4,
            observation="run",
            cause=3,
            content="a.py",
            tool_call_metadata=bash,
            extras={"metadata": {"exit_code": 2}},
        ),
        event(5, 5, action="edit", args={"path": "/a", "content": ""}, tool_call_metadata=editor),
        event(6, 6, observation="error", cause=5, content="No such file", tool_call_metadata=editor),
        event(
            7,
            9,
            action="finish",
            message="Renamed.",
            args={"outputs": {}, "thought": "It is renamed."},
            tool_call_metadata=metadata("finish", "c3", LAST),
        ),
    ]


def line(**fields):
    """The older, flat way, as output.jsonl has it."""
    return {
        "issue": {"owner": "acme", "repo": "shop", "number": 5},
        "instruction": "Fix it.",
        "history": [
            {"action": "message", "content": "Fix it.", "wait_for_response": False},
            {"action": "run", "command": "touch A", "thought": "Make it.", "keep_prompt": True},
            {"observation": "run", "content": "$", "command_id": -1, "command": "touch A", "exit_code": 0},
            {"action": "finish", "outputs": {}, "thought": "Made it."},
        ],
        "metrics": {"accumulated_cost": 0.5, "costs": [0.2, 0.3]},
        "success": True,
        "error": None,
        **fields,
    }


def test_one_response_of_the_model_is_one_message_with_its_parallel_calls():
    trace = openhands.build(bare())
    assert [(m["role"], m["content"]) for m in trace.messages if m["role"] == "assistant"] == [
        ("assistant", "Let me see."),
        ("assistant", "All done."),
    ]
    assert [(call["name"], call["step"]) for call in trace.tool_calls] == [
        ("execute_bash", 1),
        ("editor", 1),
        ("finish", 2),
    ]


def test_usage_of_a_repeated_response_counts_once():
    trace = openhands.build(bare())
    assert trace.usage["input_tokens"] == 200
    assert trace.usage["cache_read_input_tokens"] == 80
    assert [call["response_id"] for call in trace.llm_calls] == ["r1", "r2"]
    assert (trace.provider, trace.model) == ("anthropic", "claude")


def test_arguments_are_those_the_model_wrote():
    assert openhands.build(bare()).tool_calls[0]["arguments"] == {"command": "ls"}


def test_results_are_joined_with_exit_codes_and_errors():
    bash, editor, finish = openhands.build(bare()).tool_calls
    assert (bash["result_text"], bash["exit_code"], bash["status"]) == ("a.py", 2, "ok")
    assert (editor["status"], editor["error"]["message"]) == ("error", "No such file")
    assert (finish["status"], finish["result"]) == ("ok", None)


@pytest.mark.parametrize("kind", ["edit", "read"])
def test_the_file_tool_reports_failure_in_its_content(kind):
    history = bare()
    history[6] = {**history[6], "observation": kind, "content": "ERROR:\nNo replacement was performed."}
    call = openhands.build(history).tool_calls[1]
    assert (call["status"], call["error"]["message"]) == ("error", "ERROR:\nNo replacement was performed.")


def test_output_of_a_command_is_not_an_error_of_the_file_tool():
    history = bare()
    history[4] = {**history[4], "content": "ERROR: 2 of 9 tests failed"}
    assert openhands.build(history).tool_calls[0]["status"] == "ok"


def test_an_answer_without_the_models_response_leaves_tokens_unknown():
    history = bare()
    history.insert(3, event(8, 3, action="message", args={"content": "I will look."}))
    trace = openhands.build(history)
    assert (trace.usage["total_tokens"], len(trace.llm_calls)) == (None, 2)
    assert [warning["code"] for warning in trace.warnings] == ["tokens_incomplete"]
    assert trace.warnings[0]["message"].startswith("1 of 3 model calls")


def test_a_total_that_the_run_counted_is_used_even_if_an_answer_has_no_tokens():
    history = [event(8, 1, action="message", args={"content": "I will look."}), *bare()[3:]]
    counted = {"prompt_tokens": 500, "completion_tokens": 50}
    trace = openhands.build({"instruction": "Go.", "history": history, "metrics": {"accumulated_token_usage": counted}})
    assert (trace.usage["total_tokens"], trace.usage["source"]) == (550, "recorded_total")
    assert "tokens_incomplete" not in [warning["code"] for warning in trace.warnings]


def test_an_error_after_which_the_agent_went_on_is_not_the_runs():
    history = bare()
    history.insert(5, event(9, 4, observation="error", content="A call without arguments."))
    trace = openhands.build(history)
    assert (trace.status, trace.error, trace.finish_reason) == ("ok", None, "stop")


def test_an_error_at_the_end_is_the_runs():
    history = [*bare()[:7], event(9, 8, observation="error", content="The agent is stuck in a loop.")]
    trace = openhands.build(history)
    assert (trace.status, trace.error["message"]) == ("error", "The agent is stuck in a loop.")


def test_an_exit_code_of_minus_one_is_unknown():
    events = bare()
    events[4]["extras"]["metadata"]["exit_code"] = -1
    assert openhands.build(events).tool_calls[0]["exit_code"] is None


def test_the_text_of_finish_is_the_final_response():
    trace = openhands.build(bare())
    assert trace.response["content"] == "It is renamed."
    assert trace.messages[trace.response["message_index"]]["content"] == "All done."
    assert (trace.status, trace.finish_reason) == ("ok", "stop")


def test_a_newer_finish_gives_its_last_thought():
    events = bare()
    events[-1]["args"]["final_thought"] = "Renamed a to b."
    assert openhands.build(events).response["content"] == "Renamed a to b."


def test_latency_is_from_the_first_event_to_the_last():
    trace = openhands.build(bare())
    assert trace.latency == {"total_ms": 8000, "source": "timestamps"}
    assert trace.started_at == "2026-01-27T22:44:01.500000Z"


def test_events_of_the_environment_are_not_messages():
    trace = openhands.build(bare())
    assert [message["role"] for message in trace.messages].count("user") == 1
    assert trace.turn_count == 1


def test_a_flat_history_has_the_fields_of_its_actions_as_arguments():
    trace = openhands.build(line())
    assert [call["name"] for call in trace.tool_calls] == ["run", "finish"]
    assert trace.tool_calls[0]["arguments"] == {"command": "touch A"}
    assert trace.tool_calls[0]["exit_code"] == 0
    assert trace.response["content"] == "Made it."
    assert [message["content"] for message in trace.messages[:2]] == ["Fix it.", "Make it."]


def test_a_line_has_cost_success_and_issue():
    trace = openhands.build(line())
    assert trace.cost == {"usd": 0.5, "source": "recorded"}
    assert trace.scores == {"success": 1.0}
    assert trace.scenario_id == "acme/shop#5"
    assert openhands.identify(line()) == ("acme/shop#5", None)
    assert openhands.identify(line(instance_id="django-1")) == ("django-1", None)
    assert trace.latency["total_ms"] is None


def test_a_total_that_is_not_the_sum_of_its_costs_is_a_warning():
    metrics = {"accumulated_cost": 0.5, "costs": [0.2, {"cost": 0.1}]}
    trace = openhands.build(line(metrics=metrics))
    assert [warning["code"] for warning in trace.warnings] == ["total_mismatch"]
    assert trace.cost["usd"] == 0.5


def test_tokens_that_the_run_counted_win_over_the_sum():
    counted = {"prompt_tokens": 700, "completion_tokens": 30}
    trace = openhands.build(line(metrics={"accumulated_cost": 0, "accumulated_token_usage": counted}))
    assert trace.usage["total_tokens"] == 730
    assert trace.cost["usd"] is None
    assert [warning["code"] for warning in trace.warnings] == ["zero_cost"]


def test_pairs_of_action_and_observation_are_read_in_order():
    first, act, seen, end = line()["history"]
    paired = line(history=[[first, {"observation": "null", "content": ""}], [act, seen], [end]])
    assert openhands.build(paired).tool_calls == openhands.build(line()).tool_calls


def test_an_instruction_begins_a_history_that_lacks_it():
    trace = openhands.build(line(history=line()["history"][1:]))
    assert trace.messages[0]["content"] == "Fix it."


def test_a_run_that_failed_is_an_error():
    trace = openhands.build(line(error="agent died", success=False))
    assert (trace.status, trace.error["message"]) == ("error", "agent died")
    assert trace.scores == {"success": 0.0}


@pytest.mark.parametrize("end", [2, 3])
def test_a_history_that_stops_during_work_is_incomplete(end):
    trace = openhands.build(line(history=line()["history"][:end]))
    assert trace.status == "incomplete"


def test_a_history_without_text_is_refused():
    with pytest.raises(TraceError, match="history contains no message"):
        openhands.build({"history": [], "metrics": {}})


def test_an_error_names_the_event():
    with pytest.raises(TraceError, match=r"^\[1\]\.action is missing"):
        openhands.build([bare()[0], {"id": 3}])


def test_content_identifies_the_format():
    assert detect.detect_format([bare()]).name == "openhands"
    assert detect.detect_format([line()]).name == "openhands"
    assert detect.detect_format([line(history=[])]).name == "openhands"


def test_a_record_nested_too_deep_is_refused():
    with pytest.raises(TraceError, match="64 levels"):
        openhands.build(line(x=nest_lists(70)))


@settings(max_examples=200)
@given(damage_document(bare()) | damage_document(line()))
def test_any_damage_gives_a_trace_or_a_reason(record):
    openhands.identify(record)
    detect.find_claiming_format(record)
    try:
        openhands.build(record)
    except TraceError as error:
        assert "\n" not in str(error)


def test_an_event_of_an_unknown_source_is_refused():
    events = bare()
    events[-1] = {**events[-1], "source": "agent_v2", "action": "finish"}
    with pytest.raises(TraceError, match="source is not one of agent, user, environment"):
        openhands.build(events)
