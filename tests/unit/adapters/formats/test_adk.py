from __future__ import annotations

import pytest
from damage import damage_document
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


def test_the_state_may_name_scenario_and_trial():
    state = {"evalgate.scenario.id": "lamp", "evalgate.trial": 3}
    trace = build(event("bot", 0, text("Hi")), state=state)
    assert (trace.scenario_id, trace.trial) == ("lamp", 3)
    assert adk.identify(session(state=state)) == ("lamp", 3)


def test_events_without_a_session_are_one_session_together():
    one, two = event("user", 0, text("Hi")), event("bot", 1, text("Hello"))
    for documents in ([one, two], [[one, two]]):
        (record,) = adk.split(documents)
        trace = adk.build(record)
        assert [m["content"] for m in trace.messages] == ["Hi", "Hello"]
        assert (trace.trace_id, trace.agent["name"]) == ("", "bot")
    assert len(adk.split([BOTH, session(), one, two])) == 3


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
