from __future__ import annotations

import pytest

from evalgate.adapters.formats.adk import ADK
from evalgate.adapters.formats.adk.reader import build

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


@pytest.mark.parametrize(
    ("fields", "calls"),
    [
        ({"grounding_metadata": {"web_search_queries": ["lamp"]}}, [("google_search", {"queries": ["lamp"]})]),
        ({"groundingMetadata": {"webSearchQueries": ["lamp"]}}, [("google_search", {"queries": ["lamp"]})]),
        ({"grounding_metadata": None}, []),
    ],
)
def test_a_search_that_only_the_metadata_of_an_answer_records_is_a_call(fields, calls):
    found = session(event("user", 0, text("Which lamp?")), event("root", 1, text("That one."), **fields))
    trace = build(found)
    assert [(call["name"], call["arguments"]) for call in trace.tool_calls] == calls
    assert trace.response["content"] == "That one."
