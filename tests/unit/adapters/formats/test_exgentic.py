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


def test_a_message_to_the_user_is_not_a_call():
    trace = build(*session())
    assert [(m["role"], m["content"]) for m in trace.messages[:3]] == [
        ("user", "Cancel it."),
        ("assistant", "Which one?"),
        ("user", "H8."),
    ]
    assert [call["name"] for call in trace.tool_calls] == ["look", "cancel", "finish"]
    assert trace.turn_count == 2


def test_actions_of_one_step_are_parallel_and_joined_with_their_results():
    look, cancel, _ = build(*session()).tool_calls
    assert look["step"] == cancel["step"] == 2
    assert (look["result"], look["exit_code"]) == ({"output": "x", "returncode": 1}, 1)
    assert cancel["result"] == "refused"


def test_an_invalid_action_is_an_error():
    cancel = build(*session()).tool_calls[1]
    assert cancel["status"] == "error"
    assert cancel["error"] == {"type": "invalid_action", "message": "no such field"}


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ([{"song": 1}], "ok"),
        ({"message": "Song liked."}, "ok"),
        ({"error": "no such song"}, "error"),
        ([], "error"),
        (None, "error"),
        ("Error: page_limit is too large", "error"),
    ],
)
def test_an_action_marked_invalid_that_was_executed_is_not_an_error(result, status):
    lines = [
        line("action", 1, action=action("songs", "a1", error="sort_by is not text", sort_by=None)),
        line("observation", 1, observation=observation(result, ("songs", "a1"))),
    ]
    call = build(*lines).tool_calls[0]
    assert (call["status"], call["error"] is None, call["result"]) == (status, status == "ok", result)


def test_an_answer_may_be_submitted():
    lines = [
        line("action", 1, 0.1, action=action("submit", "a1", exact_answer="Storm", explanation="It fits.")),
        line("observation", 1, 0.1, observation=None),
    ]
    trace = build(*lines)
    assert (trace.response["content"], trace.finish_reason, trace.warnings) == ("Storm", "stop", [])


def test_the_answer_handed_to_finish_is_the_final_response():
    trace = build(*session())
    assert trace.response["content"] == "Cancelled."
    assert (trace.status, trace.finish_reason) == ("ok", "stop")
    assert trace.tool_calls[-1]["status"] == "ok"
    assert trace.warnings == []


def test_without_the_outcome_the_running_total_is_the_cost():
    trace = build(*session())
    assert trace.cost == {"usd": 0.3, "source": "recorded"}
    assert trace.latency["total_ms"] is trace.model is trace.scenario_id is None


def test_the_outcome_file_adds_the_rest():
    trace = build(*session(), outcome())
    assert trace.scenario_id == "47"
    assert (trace.provider, trace.model) == ("openai", "gpt-4o")
    assert trace.usage["total_tokens"] == 980
    assert trace.latency == {"total_ms": 46500, "source": "recorded"}
    assert trace.scores == {"score": 1.0, "success": 1.0}


def test_costs_that_differ_are_a_warning():
    trace = build(outcome(agent_cost=0.4), *session())
    assert trace.cost["usd"] == 0.4
    assert [warning["code"] for warning in trace.warnings] == ["total_mismatch"]


def test_a_cost_of_0_is_unknown():
    trace = build(*[{**each, "agent_cost": 0} for each in session()])
    assert trace.cost["usd"] is None
    assert [warning["code"] for warning in trace.warnings] == ["zero_cost"]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"status": "error"}, "error"),
        ({"status": "limit_reached"}, "incomplete"),
        ({"is_finished": False}, "incomplete"),
        ({"status": "unsuccessful", "success": False}, "ok"),
    ],
)
def test_how_a_session_ended_is_read(fields, status):
    assert build(*session(), outcome(**fields)).status == status


def test_sessions_are_kept_apart_and_name_the_key_of_their_files():
    other = [{**each, "session_id": "s2", "task_id": "t2"} for each in session()]
    lines = [each for pair in zip(session(), other, strict=True) for each in pair]
    found = exgentic.split(lines)
    assert [exgentic.identify(each) for each in found] == [(None, None), ("t2", None)]
    assert [exgentic.build(each).trace_id for each in found] == ["s1", "s2"]
    assert exgentic.join_keys(lines) == {"s1", "s2"}


def test_an_outcome_alone_says_where_the_steps_are():
    with pytest.raises(TraceError, match=r"only the outcome of a session: include its trajectory\.jsonl"):
        build(outcome())


def test_an_error_names_the_step():
    with pytest.raises(TraceError, match=r"step 0\.action\.name is missing"):
        build(line("action", 1, action={"id": "x"}))


def test_a_session_in_which_nothing_happens_is_refused():
    with pytest.raises(TraceError, match="no step of the session"):
        build(line("observation", 0, observation=None))


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
