"""An agent whose code changes what the model asked for, and sends that back, made one call and not two."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from chain_builders import call_anthropic, call_chat, call_responses
from msgspec.structs import replace
from recorded_cassettes import TRIAL

from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.models.run import ProcessRun

if TYPE_CHECKING:
    from evalgate.features.record.models.exchange import Exchange

LOOK = [("user", "go"), ("ask", {"m1": "find"}), ("result", ("m1", "free"))]
TALK = [*LOOK, ("ask", {"m2": "reserve"}), ("result", ("m2", "done"))]
B7, B4 = {"berth": "B7"}, {"berth": "B4"}


def give(exchange: Exchange, *arguments: Any) -> Exchange:
    """The exchange in which each call of `reserve`, first in the request, then in the answer, has these arguments."""
    left = list(arguments)

    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(each) for each in value]
        if not isinstance(value, dict):
            return value
        if value.get("name") != "reserve":
            return {key: fill(each) for key, each in value.items()}
        given = left.pop(0)
        return {**value, "input": given} if "input" in value else {**value, "arguments": json.dumps(given)}

    body = json.dumps(fill(json.loads(exchange.request.body))).encode()
    chunks = [(at, json.dumps(fill(json.loads(part))).encode()) for at, part in exchange.answer.chunks]
    return replace(
        exchange, request=replace(exchange.request, body=body), answer=replace(exchange.answer, chunks=chunks)
    )


def run(call: Any, *sent: Any) -> Any:
    """A run whose model asks for berth B7, and that sends back each of these in one more request."""
    exchanges = [call("MAIN", LOOK[:1], LOOK[1:2], 1.0), give(call("MAIN", LOOK, TALK[3:4], 2.0), B7)]
    more = [("say", "Anything else?"), ("user", "no")]
    for number, each in enumerate(sent):
        exchanges.append(give(call("MAIN", [*TALK, *more * number], more[:1], 3.0 + number), each))
    return build_trace(exchanges, ProcessRun(TRIAL, "t"))


def acted(trace: Any) -> list[tuple[str, Any, str, Any]]:
    return [(each["name"], each["arguments"], each["actor"], each["result_text"]) for each in trace.tool_calls]


@pytest.mark.parametrize("call", [call_chat, call_anthropic, call_responses])
@pytest.mark.parametrize("sent", [(B4,), (B4, B4)], ids=["once", "each time"])
def test_what_was_sent_back_was_executed_and_what_the_model_asked_for_is_kept(call, sent):
    trace = run(call, *sent)
    assert acted(trace) == [("find", {}, "root", "free"), ("reserve", B4, "root", "done")]
    found = trace.tool_calls[1]
    assert found["requested"] == {"name": "reserve", "arguments": B7}
    assert found["executed"] == {"name": "reserve", "arguments": B4}
    asked = [each["arguments"] for message in trace.messages for each in message["tool_calls"]]
    assert (asked, trace.status, trace.gaps) == ([{}, B7], "ok", {})


@pytest.mark.parametrize("call", [call_chat, call_anthropic, call_responses])
@pytest.mark.parametrize("sent", [(B7,), (B7, B7), ({**B7, "note": None},)], ids=["once", "each time", "null"])
def test_what_is_sent_back_as_it_was_asked_for_is_no_difference(call, sent):
    trace = run(call, *sent)
    assert [each[0] for each in acted(trace)] == ["find", "reserve"]
    assert not any("requested" in each for each in trace.tool_calls)


@pytest.mark.parametrize("call", [call_chat, call_anthropic, call_responses])
def test_what_a_later_request_shortens_was_not_executed(call):
    trace = run(call, B7, {"berth": "[cut]"})
    assert acted(trace) == [("find", {}, "root", "free"), ("reserve", B7, "root", "done")]
    assert (trace.tool_calls[1].get("requested"), trace.gaps) == (None, {})


def test_a_text_beside_a_call_that_is_not_sent_back_makes_no_other_agent():
    exchanges = [
        call_chat("MAIN", LOOK[:1], LOOK[1:2], 1.0),
        call_chat("MAIN", LOOK, TALK[3:4], 2.0),
        call_chat("MAIN", TALK, [("say", "Done.")], 3.0),
    ]
    (at, part), *_ = exchanges[1].answer.chunks
    answer = json.loads(part)
    answer["choices"][0]["message"]["content"] = "I reserve it."
    exchanges[1] = replace(
        exchanges[1], answer=replace(exchanges[1].answer, chunks=[(at, json.dumps(answer).encode())])
    )
    trace = build_trace(exchanges, ProcessRun(TRIAL, "t"))
    assert acted(trace) == [("find", {}, "root", "free"), ("reserve", {}, "root", "done")]
    assert trace.messages[4]["content"] == "I reserve it."


def test_ids_that_two_answers_have_say_nothing():
    talk = [("user", "go"), ("ask", {"c": "find"}), ("result", ("c", "free")), ("ask", {"c": "reserve"})]
    exchanges = [
        call_chat("MAIN", talk[:1], talk[1:2], 1.0),
        give(call_chat("MAIN", talk[:3], talk[3:], 2.0), B7),
        give(call_chat("MAIN", [*talk, ("result", ("c", "done"))], [("say", "Done.")], 3.0), B4),
    ]
    assert not any("requested" in each for each in build_trace(exchanges, ProcessRun(TRIAL, "t")).tool_calls)
