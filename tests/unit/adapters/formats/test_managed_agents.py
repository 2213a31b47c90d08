from __future__ import annotations

import pytest
from damage import damage_document
from hypothesis import given

from evalgate.adapters.formats.managed_agents import MANAGED_AGENTS, reader
from evalgate.errors import TraceError


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


def test_a_response_of_several_events_is_one_message():
    trace = build(WHOLE)
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "What's the weather?"),
        ("assistant", "Let me see."),
        ("tool", "sunny"),
        ("tool", "Not allowed."),
        ("assistant", "It is sunny."),
    ]
    assert trace.response["content"] == "It is sunny."
    assert [call["step"] for call in trace.tool_calls] == [1, 1]


def test_results_of_own_tools_and_of_servers_are_joined_with_their_calls():
    calls = build(WHOLE).tool_calls
    assert [(c["name"], c["arguments"], c["status"], c["result_text"]) for c in calls] == [
        ("weather", {"city": "Prague"}, "ok", "sunny"),
        ("search", {"q": "Prague"}, "error", "Not allowed."),
    ]


def test_input_tokens_include_what_the_cache_held():
    trace = build(WHOLE)
    assert trace.usage["input_tokens"] == 2 * (2 + 7000 + 25)
    assert trace.usage["cache_read_input_tokens"] == 14000
    assert trace.usage["cache_write_input_tokens"] == 50
    assert trace.usage["output_tokens"] == 80
    assert [call["duration_ms"] for call in trace.llm_calls] == [4000, 3000]
    assert [(call["step"], call["model"]) for call in trace.llm_calls] == [
        (1, "claude-sonnet-5"),
        (2, "claude-sonnet-5"),
    ]


def test_the_session_names_agent_tools_and_scenario():
    trace = build(session(*ASKED, *ANSWERED, metadata={"evalgate.scenario.id": "weather", "evalgate.trial": 2}))
    assert (trace.scenario_id, trace.trial, trace.trace_id) == ("weather", 2, "sesn_1")
    assert trace.agent == {"name": "Clerk", "framework": "claude-managed-agents"}
    assert trace.system_instructions == "Be brief."
    assert [tool["name"] for tool in trace.tool_definitions] == ["weather"]
    assert trace.latency == {"total_ms": 14000.0, "source": "timestamps"}
    assert (trace.status, trace.finish_reason) == ("ok", "stop")


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


@pytest.mark.parametrize("events", [ASKED, ASKED[:-1], []], ids=["waits for a result", "cut off", "just begun"])
def test_a_session_that_is_not_at_its_end_is_incomplete(events):
    assert build(session(*events)).status == "incomplete"


def test_a_failed_session_has_its_reason():
    failed = event("session.error", 16, error={"type": "overloaded_error", "message": "Try later."})
    trace = build([*WHOLE, failed])
    assert (trace.status, trace.error) == ("error", {"type": "overloaded_error", "message": "Try later."})


def test_a_fetched_document_is_reduced_to_its_text():
    document = {"type": "document", "title": "T", "source": {"type": "text", "data": "894 stars"}}
    picture = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    used = event("agent.tool_use", 4, name="web_fetch", input={"url": "u"})
    result = event("agent.tool_result", 5, tool_use_id="sevt_04", content=[document, picture])
    call = build(session(used, result)).tool_calls[0]
    assert call["result_text"] == "894 stars"


def test_a_tools_use_of_a_new_kind_is_a_call():
    used = event("agent.remote_tool_use", 4, name="delete", input={"id": 1})
    (call,) = build(session(used)).tool_calls
    assert (call["name"], call["arguments"]) == ("delete", {"id": 1})


def test_an_unmetered_request_has_no_tokens():
    trace = build(session(event("span.model_request_start", 2), event("span.model_request_end", 3)))
    assert trace.usage["input_tokens"] is None


def test_errors_name_the_event_and_its_field():
    broken = event("agent.tool_use", 4, input={})
    with pytest.raises(TraceError, match=r"events\[2\]\.name is missing"):
        build(session(broken))


@pytest.mark.parametrize("value", [None, 1, [], {}, ["client.beta.sessions.create", None], {"type": "agent.message"}])
def test_other_values_are_not_claimed(value):
    assert not MANAGED_AGENTS.claims(value)


@given(damage_document(WHOLE))
def test_damage_is_a_trace_error_or_none(documents):
    for record in reader.split(documents):
        reader.identify(record)
        try:
            reader.build(record)
        except TraceError as error:
            assert "\n" not in str(error)
