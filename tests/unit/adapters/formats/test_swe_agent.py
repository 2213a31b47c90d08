from __future__ import annotations

import json

from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.swe_agent import reader as swe_agent

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


def test_problem_and_model_come_from_the_settings_and_no_key_does():
    trace = swe_agent.build(with_tools())
    assert (trace.scenario_id, trace.model) == ("repo__issue-1", "gpt-4o")
    assert "sk-planted" not in repr(trace)
    assert swe_agent.identify(with_tools()) == ("repo__issue-1", None)


def test_settings_may_be_json_in_text():
    written = json.dumps(with_tools()["replay_config"])
    assert swe_agent.build(with_tools(replay_config=written)).scenario_id == "repo__issue-1"


def test_content_identifies_the_format():
    assert detect.detect_format([in_text()]).name == "swe-agent"
    assert detect.detect_format([with_tools()]).name == "swe-agent"
    assert detect.detect_format([{"history": in_text()["history"]}]).name == "swe-agent"
