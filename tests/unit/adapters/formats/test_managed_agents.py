from __future__ import annotations

import pytest

from evalgate.adapters.formats.managed_agents import MANAGED_AGENTS, reader


def event(kind, second, **fields):
    moment = f"2026-07-06T16:26:{second:02d}.000000Z"
    return {"id": f"sevt_{second:02d}", "type": kind, "processed_at": moment, **fields}


def words(text):
    return [{"type": "text", "text": text}]


def metered(second, begun, read=7000, written=25):
    usage = {
        "input_tokens": 2,
        "output_tokens": 40,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }
    return event("span.model_request_end", second, model_request_start_id=begun, model_usage=usage)


def idle(second, reason="end_turn"):
    return event("session.status_idle", second, stop_reason={"type": reason})


def session(*events, metadata=None):
    agent = {
        "name": "Clerk",
        "model": {"id": "claude-sonnet-5"},
        "system": "Be brief.",
        "tools": [
            {"type": "agent_toolset_20260401", "configs": []},
            {
                "type": "custom",
                "name": "weather",
                "description": "Describes it.",
                "input_schema": {"type": "object"},
            },
        ],
    }
    return [
        {"id": "sesn_1", "type": "session", "title": "T", "agent": agent, "metadata": metadata or {}},
        event("user.message", 1, content=words("What's the weather?")),
        *events,
    ]


ASKED = [
    event("span.model_request_start", 2),
    event("agent.message", 3, content=words("Let me see.")),
    event("agent.custom_tool_use", 4, name="weather", input={"city": "Prague"}),
    event("agent.mcp_tool_use", 5, name="search", input={"q": "Prague"}, mcp_server_name="exa"),
    metered(6, "sevt_02"),
    idle(7, "requires_action"),
]
ANSWERED = [
    event("user.custom_tool_result", 8, custom_tool_use_id="sevt_04", content=words("sunny")),
    event("session.status_running", 9),
    event("agent.mcp_tool_result", 10, mcp_tool_use_id="sevt_05", content=words("Not allowed."), is_error=True),
    event("span.model_request_start", 11),
    event("agent.thinking", 12),
    event("agent.message", 13, content=words("It is sunny.")),
    metered(14, "sevt_11"),
    idle(15),
]
WHOLE = session(*ASKED, *ANSWERED)


def build(documents):
    (record,) = reader.split(documents)
    return reader.build(record)


def test_events_that_a_client_received_are_read_like_bare_events():
    methods = ["client.beta.sessions.create", *["client.beta.sessions.events.stream"] * (len(WHOLE) - 1)]
    received = [[method, value] for method, value in zip(methods, WHOLE, strict=True)]
    sent = ["client.beta.sessions.events.send", ["sesn_1", {"events": [{"type": "user.message"}]}]]
    assert build([received[0], sent, *received[1:]]) == build(WHOLE)
    assert all(MANAGED_AGENTS.claims(line) for line in received)


@pytest.mark.parametrize("wrapped", [[{"data": WHOLE}], [WHOLE]], ids=["a page of the API", "a list"])
def test_events_of_one_document_read_as_lines(wrapped):
    assert build(wrapped) == build(WHOLE)
    assert MANAGED_AGENTS.claims(wrapped[0])


@pytest.mark.parametrize("value", [None, 1, [], {}, ["client.beta.sessions.create", None], {"type": "agent.message"}])
def test_other_values_are_not_claimed(value):
    assert not MANAGED_AGENTS.claims(value)
