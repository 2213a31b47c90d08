from __future__ import annotations

import orjson
import pytest
from builders import make_call, make_message, make_trace
from damage import damage_document, nest_lists
from hypothesis import given, settings

from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.salvo import reader as salvo
from evalgate.errors import TraceError
from evalgate.models.trace.trace_view import get_view


def view(**fields):
    return {
        "response": {"content": "It is 20 degrees.", "finish_reason": "stop"},
        "turns": [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}],
            },
            {"role": "tool_result", "content": "20", "tool_call_id": "c1", "tool_name": "weather"},
            {"role": "assistant", "content": "It is 20 degrees."},
        ],
        "tool_calls": [{"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}],
        "metadata": {
            "model": "gpt-4o",
            "provider": "openai",
            "cost_usd": 0.01,
            "latency_seconds": 1.5,
            "input_tokens": 100,
            "output_tokens": 10,
            "total_tokens": 110,
            "turn_count": 2,
            "finish_reason": "stop",
        },
        **fields,
    }


def stored(**fields):
    known = view()
    return {
        "messages": known["turns"],
        "tool_calls_made": known["tool_calls"],
        "final_content": "It is 20 degrees.",
        "timestamp": "2026-02-19T10:00:00+00:00",
        "scenario_hash": "abc",
        "max_turns_hit": False,
        **known["metadata"],
        **fields,
    }


@pytest.mark.parametrize("record", [view(), stored()])
def test_both_forms_give_the_same_trace(record):
    trace = salvo.build(record)
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    (call,) = trace.tool_calls
    assert (call["name"], call["arguments"], call["result"]) == ("weather", {"city": "Oslo"}, "20")
    assert (trace.provider, trace.model, trace.finish_reason) == ("openai", "gpt-4o", "stop")
    assert trace.cost["usd"] == 0.01
    assert trace.latency["total_ms"] == 1500
    assert trace.usage["total_tokens"] == 110
    assert trace.response == {"content": "It is 20 degrees.", "finish_reason": None, "message_index": 3}


def test_a_stored_run_has_its_start_time():
    assert salvo.build(stored()).started_at == "2026-02-19T10:00:00Z"


def test_a_run_that_was_cut_off_is_incomplete():
    assert salvo.build(stored(max_turns_hit=True)).status == "incomplete"


def test_the_native_view_is_read_back():
    calls = [
        make_call("lookup", {"id": 1}, status="error", result="gone", exit_code=3),
        make_call("plan", {"x": [1]}, index=1, result={"steps": 2}),
    ]
    before = make_trace(calls, scenario_id="refund")
    after = salvo.build(orjson.loads(orjson.dumps(get_view(before).whole())))
    assert after.scenario_id == "refund"
    for one, other in zip(before.tool_calls, after.tool_calls, strict=True):
        assert {key: one[key] for key in ("name", "arguments", "result", "status", "error", "exit_code")} == {
            key: other[key] for key in ("name", "arguments", "result", "status", "error", "exit_code")
        }
    assert after.response["content"] == before.response["content"]


def test_a_message_that_is_not_the_last_can_be_the_response():
    trace = salvo.build(view(response={"content": "Something else."}))
    assert trace.response == {"content": "Something else.", "finish_reason": None, "message_index": None}


def test_calls_that_no_turn_shows_are_kept():
    made = [{"name": "weather", "arguments": "{}", "result": {"t": 20}, "turn": 1}]
    trace = salvo.build(view(turns=[{"role": "user", "content": "Weather?"}], tool_calls=made))
    assert trace.tool_calls[0]["result_text"] == '{"t":20}'
    assert trace.tool_calls[0]["arguments"] == {}


def test_calls_without_ids_are_joined_by_name_and_order():
    shown = [{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}, {"name": "a", "arguments": {}}]
    turns = [{"role": "assistant", "content": None, "tool_calls": shown}]
    made = [
        {"name": "a", "result": "1"},
        {"name": "b", "error": "no"},
        {"name": "a", "error": {"type": "t", "message": "m"}},
    ]
    trace = salvo.build(view(turns=turns, tool_calls=made))
    assert [call["status"] for call in trace.tool_calls] == ["ok", "error", "error"]
    assert trace.tool_calls[2]["error"] == {"type": "t", "message": "m"}


def test_calls_without_an_answer_are_a_warning():
    trace = salvo.build(view(turns=view()["turns"][:2]))
    assert [warning["code"] for warning in trace.warnings] == ["results_missing"]


def test_a_run_that_counted_nothing_has_no_tokens():
    nothing = {"cost_usd": None, "input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    assert salvo.build(stored(**nothing)).usage["source"] == "none"


def test_metadata_names_scenario_and_trial():
    metadata = {"scenario_id": "s", "trial": 2, "evaluations": {"q": 0.5}, "custom": {"k": "v"}}
    trace = salvo.build(view(metadata=metadata))
    assert (trace.scenario_id, trace.trial, trace.scores, trace.metadata) == ("s", 2, {"q": 0.5}, {"k": "v"})
    assert salvo.identify(view(metadata=metadata)) == ("s", 2)


def test_an_empty_recording_is_refused():
    with pytest.raises(TraceError, match="turns is empty"):
        salvo.build(view(turns=[], tool_calls=[]))


def test_an_error_names_the_turn():
    with pytest.raises(TraceError, match=r"turns\[0\]\.role is not one of system"):
        salvo.build(view(turns=[{"role": "robot"}]))


def test_content_identifies_the_format():
    assert detect.detect_format([view()]).name == detect.detect_format([stored()]).name == "salvo"
    whole = get_view(make_trace([], messages=[make_message()])).whole()
    assert detect.detect_format([whole]).name == "salvo"


def test_a_record_nested_too_deep_is_refused():
    with pytest.raises(TraceError, match="64 levels"):
        salvo.build(view(x=nest_lists(70)))


@settings(max_examples=150)
@given(damage_document(view()) | damage_document(stored()))
def test_any_damage_gives_a_trace_or_a_reason(record):
    salvo.identify(record)
    detect.find_claiming_format(record)
    try:
        salvo.build(record)
    except TraceError as error:
        assert "\n" not in str(error)
