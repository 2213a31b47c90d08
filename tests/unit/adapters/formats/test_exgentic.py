from __future__ import annotations

import pytest
from damage import damage_document, nest_lists
from hypothesis import given, settings

from evalgate.adapters.formats.exgentic import reader as exgentic
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError


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


def test_a_record_nested_too_deep_is_refused():
    with pytest.raises(TraceError, match="64 levels"):
        build(line("observation", 0, observation=nest_lists(70)))


def test_an_action_is_read_whatever_its_event_is_called():
    steps = [{**step, "event": "act"} if step["event"] == "action" else step for step in session()]
    (record,) = exgentic.split(steps)
    assert [call["name"] for call in exgentic.build(record).tool_calls] == ["look", "cancel", "finish"]


@settings(max_examples=150)
@given(damage_document([*session(), outcome()]))
def test_any_damage_gives_a_trace_or_a_reason(documents):
    known = [each for each in documents if exgentic_claims(each)]
    exgentic.join_keys(known)
    for found in exgentic.split(known):
        exgentic.identify(found)
        try:
            exgentic.build(found)
        except TraceError as error:
            assert "\n" not in str(error)


def exgentic_claims(value):
    known = detect.find_claiming_format(value)
    return known is not None and known.name == "exgentic"


def test_lines_without_a_session_are_reported_and_hide_no_other():
    whole, broken = exgentic.split([*session(), line("action", 1, session=[5]), 7])
    assert exgentic.build(whole).trace_id == "s1"
    with pytest.raises(TraceError, match=r"step 0\.session_id is not text"):
        exgentic.build(broken)
    assert exgentic.identify(broken) == (None, None)
