from __future__ import annotations

import pytest

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.mini_swe_agent import reader as mini_swe_agent
from evalgate.adapters.formats.mini_swe_agent.reader import READER
from evalgate.adapters.formats.open import detect
from evalgate.models.trace.trace import TraceLocation
from evalgate.models.trace.trace_view import list_evidence

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


def test_names_come_from_the_settings_and_keys_do_not():
    trace = mini_swe_agent.build(newer())
    assert (trace.provider, trace.model) == ("deepseek", "deepseek-chat")
    assert trace.scenario_id == "django__django-1"
    assert mini_swe_agent.READER.identify(newer()) == ("django__django-1", None)
    assert "sk-x" not in repr(trace)
    assert trace.started_at == "2026-06-05T17:25:49.500000Z"


def test_content_identifies_the_format():
    assert detect.detect_format([plain()]).name == "mini-swe-agent"
    assert detect.detect_format([newer()]).name == "mini-swe-agent"
    older = {"info": {"exit_status": "Submitted"}, "messages": plain()}
    assert detect.detect_format([older]).name == "mini-swe-agent"
    assert detect.detect_format([plain()[:3]]).name == "openai-chat"


@pytest.mark.parametrize(
    ("output", "errors"), [("timed out", "partial"), ("<returncode>0</returncode>\n<output>a</output>", "complete")]
)
def test_a_result_without_a_return_code_does_not_count_as_a_success(output, errors):
    messages = [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "```bash\nmake test\n```"},
        {"role": "user", "content": output},
        {"role": "assistant", "content": "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"},
        {"role": "user", "content": "a diff"},
    ]
    record = {"info": {"exit_status": "Submitted"}, "messages": messages}
    trace = read_record(READER, record, TraceLocation("a.json", "mini-swe-agent"), "a.json")
    assert [call["status"] for call in trace.tool_calls] == ["unknown" if errors == "partial" else "ok", "ok"]
    assert list_evidence(trace)["errors"] == errors
