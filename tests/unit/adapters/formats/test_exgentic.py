from __future__ import annotations

from evalgate.adapters.formats.exgentic import reader as exgentic
from evalgate.adapters.formats.open import detect


def line(event, step, cost=0.0, session="s1", **fields):
    return {
        "event": event,
        "session_id": session,
        "task_key": "",
        "step": step,
        "agent_cost": cost,
        "benchmark_cost": 9.0,
        **fields,
    }


def action(name, action_id, error=None, **arguments):
    validation = {"valid": error is None, "error": error}
    return {"name": name, "id": action_id, "arguments": arguments, "validation": validation}


def observation(result, *causes):
    return {"result": result, "invoking_actions": [{"name": name, "id": i} for name, i in causes]}


def session():
    both = {"actions": [action("look", "a2"), action("cancel", "a3", error="no such field")]}
    seen = [
        observation({"output": "x", "returncode": 1}, ("look", "a2")),
        observation("refused", ("cancel", "a3")),
    ]
    return [
        line("observation", 0, observation=observation({"sender": "user", "message": "Cancel it."})),
        line("action", 1, 0.1, action=action("message", "a1", content="Which one?")),
        line(
            "observation",
            1,
            0.1,
            observation=observation({"sender": "user", "message": "H8."}, ("message", "a1")),
        ),
        line("action", 2, 0.2, action=both),
        line("observation", 2, 0.2, observation={"observations": seen}),
        line("action", 3, 0.3, action=action("finish", "a4", answer="Cancelled.")),
        line("observation", 3, 0.3, observation=None),
    ]


def outcome(**fields):
    return {
        "session_id": "s1",
        "success": True,
        "score": 1.0,
        "is_finished": True,
        "steps": 3,
        "agent_cost": 0.3,
        "benchmark_cost": 9.0,
        "execution_time": 46.5,
        "details": {},
        "cost_reports": {
            "agent": {"model_name": "openai/gpt-4o", "input_tokens": 900, "output_tokens": 80},
            "benchmark": {"model_name": "x", "input_tokens": 1},
        },
        "task_key": "47",
        **fields,
    }


def build(*documents):
    (found,) = exgentic.split(list(documents))
    return exgentic.build(found)


def test_sessions_are_kept_apart_and_name_the_key_of_their_files():
    other = [{**each, "session_id": "s2", "task_id": "t2"} for each in session()]
    lines = [each for pair in zip(session(), other, strict=True) for each in pair]
    found = exgentic.split(lines)
    assert [exgentic.identify(each) for each in found] == [(None, None), ("t2", None)]
    assert [exgentic.build(each).trace_id for each in found] == ["s1", "s2"]
    assert exgentic.join_keys(lines) == {"s1", "s2"}


def test_content_identifies_the_format():
    assert {detect.detect_format([each]).name for each in [*session(), outcome()]} == {"exgentic"}
