from __future__ import annotations

import pytest
from damage import damage_document, nest_lists
from hypothesis import given, settings

from evalgate.adapters.formats.mini_swe_agent import reader as mini_swe_agent
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"


def make_message(role, content, **fields):
    return {"role": role, "content": content, **fields}


def block(words, command, fence="bash"):
    return make_message("assistant", f"{words}\n\n```{fence}\n{command}\n```")


def plain():
    return [
        make_message("system", "Answer with ONE block of code."),
        make_message("user", "Fix the bug.\n```bash\nanything\n```"),
        block("Look.", "ls -la", "mswea_bash_command"),
        make_message("user", "<returncode>0</returncode>\n<output>\nsetup.py\n</output>"),
        block("Try.", "python x.py"),
        make_message("user", "<returncode>1</returncode>\n<output>\nboom\n</output>"),
        block("Done.", SUBMIT),
        make_message("user", "diff --git a b"),
    ]


def response(call_id, tokens):
    return {
        "id": call_id,
        "model": "deepseek-chat",
        "choices": [{"finish_reason": "tool_calls"}],
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": 10,
            "total_tokens": tokens + 10,
            "prompt_tokens_details": {"cached_tokens": 5},
        },
    }


def called(call_id, command, tokens):
    function = {"name": "bash", "arguments": f'{{"command": "{command}"}}'}
    return make_message(
        "assistant",
        "",
        tool_calls=[{"id": call_id, "type": "function", "function": function}],
        extra={"response": response(f"r-{call_id}", tokens), "cost": 0.01, "timestamp": 1780680349.5},
    )


def newer(**fields):
    return {
        "info": {
            "model_stats": {"instance_cost": 0.02, "api_calls": 2},
            "config": {"model": {"model_name": "deepseek/deepseek-chat", "model_kwargs": {"api_key": "sk-x"}}},
            "mini_version": "2.3.0",
            "exit_status": "Submitted",
            "submission": "diff --git a b",
        },
        "messages": [
            make_message("system", "You have a shell."),
            make_message("user", "Fix the bug."),
            called("c1", "ls", 100),
            make_message("tool", "<returncode>2</returncode>", tool_call_id="c1", extra={"returncode": 2}),
            called("c2", SUBMIT, 200),
            make_message("exit", "diff --git a b", extra={"exit_status": "Submitted"}),
        ],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "django__django-1",
        **fields,
    }


def test_blocks_of_code_are_calls_of_the_shell():
    trace = mini_swe_agent.build(plain())
    assert [call["name"] for call in trace.tool_calls] == ["bash", "bash", "bash"]
    assert [call["arguments"]["command"] for call in trace.tool_calls] == ["ls -la", "python x.py", SUBMIT]


def test_output_of_the_shell_is_a_result_with_its_exit_code():
    trace = mini_swe_agent.build(plain())
    assert [call["exit_code"] for call in trace.tool_calls] == [0, 1, None]
    assert {call["status"] for call in trace.tool_calls} == {"ok"}
    assert trace.turn_count == 1


def test_the_submission_of_an_older_file_is_the_last_result():
    assert mini_swe_agent.build(plain()).response["content"] == "diff --git a b"


def test_an_answer_with_several_blocks_runs_none_of_them():
    several = make_message("assistant", "```bash\nls\n```\n```bash\npwd\n```")
    trace = mini_swe_agent.build([*plain()[:2], several, make_message("user", "Give ONE block.")])
    assert trace.tool_calls == []
    assert mini_swe_agent.build([*plain()[:4], several, make_message("user", "ONE block.")]).turn_count == 1


def test_a_block_that_is_not_closed_is_not_a_command():
    assert mini_swe_agent.build([*plain()[:2], make_message("assistant", "```bash\nls")]).tool_calls == []


def test_calls_of_a_tool_keep_id_arguments_and_exit_code():
    trace = mini_swe_agent.build(newer())
    first = trace.tool_calls[0]
    assert (first["id"], first["name"], first["exit_code"]) == ("c1", "bash", 2)
    assert first["arguments"] == {"command": "ls"}


def test_the_last_command_waits_for_no_result():
    trace = mini_swe_agent.build(newer())
    assert [call["status"] for call in trace.tool_calls] == ["ok", "ok"]
    assert trace.warnings == []


def test_figures_are_summed_over_the_responses():
    trace = mini_swe_agent.build(newer())
    assert trace.usage["input_tokens"] == 300
    assert trace.usage["output_tokens"] == 20
    assert trace.usage["cache_read_input_tokens"] == 10
    assert trace.cost == {"usd": 0.02, "source": "recorded"}
    assert trace.latency["total_ms"] is None
    assert [call["response_id"] for call in trace.llm_calls] == ["r-c1", "r-c2"]


def test_names_come_from_the_settings_and_keys_do_not():
    trace = mini_swe_agent.build(newer())
    assert (trace.provider, trace.model) == ("deepseek", "deepseek-chat")
    assert trace.scenario_id == "django__django-1"
    assert mini_swe_agent.READER.identify(newer()) == ("django__django-1", None)
    assert "sk-x" not in repr(trace)
    assert trace.started_at == "2026-06-05T17:25:49.500000Z"


def test_commands_that_the_agent_took_out_itself_count():
    message = make_message("assistant", "I run it.", extra={"actions": [{"command": "make"}]})
    answer = make_message("user", "ok", extra={"returncode": 3})
    trace = mini_swe_agent.build(newer(messages=[*newer()["messages"][:2], message, answer]))
    assert trace.tool_calls[0]["arguments"] == {"command": "make"}
    assert trace.tool_calls[0]["exit_code"] == 3


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("Submitted", "ok"), ("LimitsExceeded", "incomplete"), ("RuntimeError", "error"), ("", "incomplete")],
)
def test_how_a_run_ended_is_read(status, outcome):
    assert mini_swe_agent.build(newer(info={**newer()["info"], "exit_status": status})).status == outcome


def test_content_identifies_the_format():
    assert detect.detect_format([plain()]).name == "mini-swe-agent"
    assert detect.detect_format([newer()]).name == "mini-swe-agent"
    older = {"info": {"exit_status": "Submitted"}, "messages": plain()}
    assert detect.detect_format([older]).name == "mini-swe-agent"
    assert detect.detect_format([plain()[:3]]).name == "openai-chat"


def test_an_invalid_time_is_refused_with_its_path():
    message = make_message("assistant", "x", extra={"timestamp": -1})
    with pytest.raises(TraceError, match=r"messages\[0\]\.extra\.timestamp is not a valid time"):
        mini_swe_agent.build(newer(messages=[message]))


def test_a_record_nested_too_deep_is_refused():
    with pytest.raises(TraceError, match="64 levels"):
        mini_swe_agent.build(newer(x=nest_lists(70)))


@settings(max_examples=150)
@given(damage_document(plain()) | damage_document(newer()))
def test_any_damage_gives_a_trace_or_a_reason(record):
    mini_swe_agent.READER.identify(record)
    detect.find_claiming_format(record)
    try:
        mini_swe_agent.build(record)
    except TraceError as error:
        assert "\n" not in str(error)
