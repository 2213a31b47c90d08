from __future__ import annotations

import pytest
from damage import damage_document, nest_lists
from hypothesis import given

from evalgate.adapters.formats.adk import ADK
from evalgate.adapters.formats.adk import reader as adk
from evalgate.errors import TraceError

START = 1_767_600_000.0  # 2026-01-05T08:00:00Z


def event(author, second, *parts, turn="i-1", **fields):
    role = "user" if author == "user" or any("function_response" in part for part in parts) else "model"
    content = {"role": role, "parts": list(parts)} if parts else None
    return {
        "invocation_id": turn,
        "author": author,
        "timestamp": START + second,
        "content": content,
        "actions": {"state_delta": {}},
        **fields,
    }


def text(words, **fields):
    return {"text": words, "function_call": None, "inline_data": None, **fields}


def asked(name, call_id=None, **arguments):
    return {"function_call": {"id": call_id, "name": name, "args": arguments}, "text": None}


def answered(name, response, call_id=None):
    return {"function_response": {"id": call_id, "name": name, "response": response}}


def tokens(prompt, candidates, total, **fields):
    return {
        "prompt_token_count": prompt,
        "candidates_token_count": candidates,
        "total_token_count": total,
        **fields,
    }


def session(*events, **fields):
    return {"id": "s-1", "app_name": "shop", "user_id": "u", "state": {}, "events": list(events), **fields}


BOTH = session(
    event("user", 0, text("Is the lamp on?")),
    event("root", 1, text("", thought=True), asked("transfer_to_agent", "t", agent_name="lights")),
    event("root", 1.5, answered("transfer_to_agent", {"result": None}, "t")),
    event(
        "lights",
        2,
        text("I look."),
        asked("status", lamp="a"),
        asked("status", lamp="b"),
        usage_metadata=tokens(100, 10, 110),
        model_version="gemini-2.5-flash",
    ),
    event("lights", 3, answered("status", {"result": "on"}), answered("status", {"error": "no such lamp"})),
    event(
        "lights",
        4.25,
        text("Lamp a is on."),
        usage_metadata=tokens(150, 20, 195, thoughts_token_count=25, cached_content_token_count=90),
        model_version="gemini-2.5-flash",
        finish_reason="STOP",
    ),
    event("user", 100, text("Thanks"), turn="i-2"),
    event("lights", 101, text("Bye."), turn="i-2", usage_metadata=tokens(10, 1, 11)),
)


def build(*events, **fields):
    return adk.build(session(*events, **fields))


def spelled(value):
    """The same document in the other spelling."""
    if isinstance(value, list):
        return [spelled(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {camel(key): spelled(inner) for key, inner in value.items()}


def camel(key):
    head, *tail = key.split("_")
    return head + "".join(part.capitalize() for part in tail)


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def test_each_message_of_the_user_is_a_turn_and_agents_have_names():
    trace = adk.build(BOTH)
    assert [(m["turn"], m["role"], m["agent"], m["content"]) for m in trace.messages] == [
        (1, "user", None, "Is the lamp on?"),
        (1, "assistant", "root", None),
        (1, "tool", "root", None),
        (1, "assistant", "lights", "I look."),
        (1, "tool", "lights", "on"),
        (1, "tool", "lights", '{"error":"no such lamp"}'),
        (1, "assistant", "lights", "Lamp a is on."),
        (2, "user", None, "Thanks"),
        (2, "assistant", "lights", "Bye."),
    ]
    assert trace.agent == {"name": "shop", "framework": "google-adk"}
    assert (trace.trace_id, trace.conversation_id, trace.scenario_id) == ("s-1", "s-1", None)


def test_calls_without_ids_find_their_results_and_a_transfer_is_a_call():
    trace = adk.build(BOTH)
    assert [(c["name"], c["status"], c["result"], c["step"]) for c in trace.tool_calls] == [
        ("transfer_to_agent", "ok", None, 1),
        ("status", "ok", "on", 2),
        ("status", "error", {"error": "no such lamp"}, 2),
    ]


def test_tokens_are_those_of_the_answers_with_thoughts_and_cache():
    metered = [one for one in BOTH["events"] if one["author"] != "root"]
    trace = adk.build({**BOTH, "events": metered})
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (260, 56)
    assert [call["usage"]["reasoning_output_tokens"] for call in trace.llm_calls] == [None, 25, None]
    assert trace.llm_calls[1]["usage"]["cache_read_input_tokens"] == 90
    assert trace.model == "gemini-2.5-flash"
    assert trace.cost["usd"] is None


def test_an_answer_without_tokens_leaves_those_of_the_session_unknown():
    trace = adk.build(BOTH)
    assert (trace.usage["total_tokens"], trace.usage["source"], len(trace.llm_calls)) == (None, "none", 3)
    assert codes(trace) == ["tokens_incomplete"]
    assert "1 of 4" in trace.warnings[0]["message"]


def test_the_time_between_turns_is_the_users():
    trace = adk.build(BOTH)
    assert trace.latency == {"total_ms": 5250.0, "source": "timestamps"}
    assert (trace.started_at, trace.ended_at) == ("2026-01-05T08:00:00Z", "2026-01-05T08:01:41Z")


def test_both_spellings_read_the_same():
    small = session(
        event("user", 0, text("Hi")),
        event("bot", 1, asked("look", "c", a=1), usage_metadata=tokens(5, 1, 6), model_version="m"),
        event("bot", 2, answered("look", {"result": 1}, "c"), long_running_tool_ids=[]),
        event("bot", 3, text("Done"), error_code="SAFETY", error_message="no"),
    )
    one, other = adk.build(small), adk.build(spelled(small))
    assert one == other
    assert one.status == "error"


def test_of_a_streamed_answer_only_the_whole_counts():
    trace = build(
        event("user", 0, text("Hi")),
        event("bot", 1, text("Hel"), partial=True, usage_metadata=tokens(5, 1, 6)),
        event("bot", 1, text("lo"), options={"partial": True}),
        event("bot", 2, text("Hello"), partial=False, usage_metadata=tokens(5, 2, 7)),
    )
    assert [m["content"] for m in trace.messages] == ["Hi", "Hello"]
    assert (trace.usage["output_tokens"], len(trace.llm_calls)) == (2, 1)


def test_events_without_content_add_no_message():
    trace = build(event("model", 0, turn="x"), event("user", 1, text("Hi")), event("bot", 2, {"text": None}))
    assert [m["content"] for m in trace.messages] == ["Hi"]


def test_thoughts_are_reasoning():
    trace = build(event("bot", 0, text("Hm.", thought=True), text("Yes.")))
    assert (trace.messages[0]["reasoning"], trace.response["content"]) == ("Hm.", "Yes.")


def test_a_tool_that_runs_long_has_the_result_it_gave_last():
    trace = build(
        event("bot", 0, asked("approve", "c"), long_running_tool_ids=["c"]),
        event("bot", 1, answered("approve", {"status": "pending"}, "c")),
        event("user", 60, answered("approve", {"status": "approved"}, "c"), turn="i-2"),
        event("bot", 61, text("Approved."), turn="i-2"),
    )
    assert [c["result"] for c in trace.tool_calls] == [{"status": "approved"}]
    assert [m["role"] for m in trace.messages] == ["assistant", "tool", "tool", "assistant"]
    assert (trace.status, codes(trace)) == ("ok", [])


def test_a_session_that_waits_for_a_tool_is_incomplete():
    trace = build(event("bot", 0, asked("approve", "c"), long_running_tool_ids=["c"]))
    assert (trace.status, codes(trace)) == ("incomplete", ["incomplete"])


def test_an_error_at_the_end_is_the_runs():
    trace = build(event("user", 0, text("Hi")), event("bot", 1, error_code="SAFETY", error_message="blocked"))
    assert (trace.status, trace.error) == ("error", {"type": "SAFETY", "message": "blocked"})
    assert trace.finish_reason == "content_filter"


def test_an_answer_cut_off_leaves_the_run_incomplete():
    trace = build(event("bot", 1, text("It is"), error_code="MAX_TOKENS"))
    assert (trace.status, trace.finish_reason) == ("incomplete", "length")


def test_an_error_the_agent_recovered_from_is_a_warning():
    trace = build(event("bot", 1, error_code="UNAVAILABLE"), event("bot", 2, text("Hello")))
    assert (trace.status, codes(trace)) == ("ok", ["model_error"])


def test_code_that_ran_is_a_call():
    code = {"executable_code": {"language": "PYTHON", "code": "1/0"}}
    outcome = {"code_execution_result": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}}
    trace = build(event("bot", 0, code, outcome, text("That fails.")))
    call = trace.tool_calls[0]
    assert (call["name"], call["arguments"]["code"], call["status"]) == ("code_execution", "1/0", "error")
    assert trace.response["content"] == "That fails."


@pytest.mark.parametrize(
    ("response", "status", "result"),
    [
        ({"result": [1]}, "ok", [1]),
        ({"status": "success"}, "ok", {"status": "success"}),
        ({"status": "error", "error_message": "no"}, "error", {"status": "error", "error_message": "no"}),
        ({"error": None, "rows": []}, "ok", {"error": None, "rows": []}),
        ({"content": [], "isError": True}, "error", {"content": [], "isError": True}),
    ],
)
def test_the_value_a_tool_returned_decides_whether_it_failed(response, status, result):
    call = build(event("bot", 0, asked("look", "c")), event("bot", 1, answered("look", response, "c"))).tool_calls[0]
    assert (call["status"], call["result"]) == (status, result)


def test_the_state_may_name_scenario_and_trial():
    state = {"evalgate.scenario.id": "lamp", "evalgate.trial": 3}
    trace = build(event("bot", 0, text("Hi")), state=state)
    assert (trace.scenario_id, trace.trial) == ("lamp", 3)
    assert adk.identify(session(state=state)) == ("lamp", 3)


def test_early_sessions_name_their_model_in_the_log():
    logs = [{"model_request": {"model": "gemini-1.5-flash"}}]
    assert build(event("bot", 0, text("Hi")), event_logs=logs).model == "gemini-1.5-flash"


def test_events_without_a_session_are_one_session_together():
    one, two = event("user", 0, text("Hi")), event("bot", 1, text("Hello"))
    for documents in ([one, two], [[one, two]]):
        (record,) = adk.split(documents)
        trace = adk.build(record)
        assert [m["content"] for m in trace.messages] == ["Hi", "Hello"]
        assert (trace.trace_id, trace.agent["name"]) == ("", "bot")
    assert len(adk.split([BOTH, session(), one, two])) == 3


def test_answers_that_come_at_once_have_the_time_of_their_request():
    """Some versions set the time of an event before the request to its model: the time of the last answer is not recorded."""
    early = session(
        event("user", 0, text("Is it on?")),
        event("bot", 0.001, asked("status", "c")),
        event("bot", 2, answered("status", {"result": "on"}, "c")),
        event("bot", 2.005, text("It is.")),
    )
    trace = adk.build(early)
    assert trace.latency["total_ms"] is None
    assert codes(trace) == ["suspicious_latency"]


def test_times_may_be_texts():
    late = {**event("bot", 0, text("Hello")), "timestamp": "2026-01-05T09:00:02+01:00"}
    assert build(event("user", 0, text("Hi")), late).latency["total_ms"] == 2000.0


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ({"events": []}, "events is missing or empty: nothing happened in this session"),
        ({"events": [3]}, r"events\[0\] is not an object"),
        ({"events": [event(None, 0)]}, r"events\[0\].author is missing"),
        ({"events": [{**event("bot", 0), "timestamp": -1e14}]}, r"events\[0\].timestamp is not a valid time"),
        ({"events": [{**event("bot", 0), "timestamp": "noon"}]}, r"events\[0\].timestamp is not an RFC 3339 time"),
        (
            {"events": [event("bot", 0, {"function_call": {}})]},
            r"events\[0\].content.parts\[0\].function_call.name",
        ),
        ({"events": [event("bot", 0, asked("f", x=nest_lists(70)))]}, "levels deep"),
    ],
)
def test_untrustworthy_fields_are_refused_by_name(broken, problem):
    with pytest.raises(TraceError, match=problem):
        adk.build({**BOTH, **broken})


@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {}, [[]], {"events": []}, {"events": [{"author": "x"}]}, {"events": 3}]
)
def test_other_documents_are_not_claimed(value):
    assert not ADK.claims(value)


def test_sessions_and_events_are_claimed():
    for value in (
        BOTH,
        [BOTH],
        session(),
        BOTH["events"],
        BOTH["events"][0],
        {"invocationId": "i", "author": "user"},
    ):
        assert ADK.claims(value)


@given(damage_document([BOTH]))
def test_damage_is_a_trace_error_or_none(documents):
    for record in adk.split(documents):
        adk.identify(record)
        try:
            adk.build(record)
        except TraceError as error:
            assert "\n" not in str(error)
