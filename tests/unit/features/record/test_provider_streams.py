"""Ten providers' streams: however they are cut into packets, and whatever their texts hold, the same trace."""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from provider_streams import NAMES, STREAMS, ProviderStream
from recorded_cassettes import TRIAL, build_cassette, exchange, replay

from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.bootstrap.cassettes import rebuild_trace
from evalgate.features.record.measures.event_stream import EventSplitter
from evalgate.features.record.models.exchange import Exchange, ProviderAnswer, ProviderRequest
from evalgate.features.record.models.run import ProcessRun
from evalgate.models.trace.trace_document import encode_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LINE_ENDS = {
    f"U+{code:04X}": chr(code)
    for code in range(sys.maxunicode + 1)
    if len(f"a{chr(code)}b".splitlines()) > 1 or code in (0x0A, 0x0D)
}
"""What Python calls a line end: the five of a browser's JavaScript are among them."""
TEXT, ARGUMENTS = "I look \N{TEST TUBE} it up.", {"note": "first", "n": 5}
REPEATS = 500


def split(*packets: bytes) -> tuple[bytes, ...]:
    """The events as the recorder keeps them."""
    splitter = EventSplitter()
    events = [event for packet in packets for event in splitter.feed(packet)]
    return (*events, splitter.rest) if splitter.rest else (*events,)


def find_traces(stream: ProviderStream, data: bytes, cuts: Iterable[int]) -> list[bytes]:
    """The different traces of a stream that comes in two packets, cut at each of these places."""
    ways = {split(data)} | {split(data[:at], data[at:]) for at in cuts}
    return [orjson.dumps(encode_trace(record(stream, events))) for events in ways]


def record(stream: ProviderStream, events: Sequence[bytes], *, is_broken: bool = False) -> Any:
    """The trace of one exchange whose answer has these events."""
    key = "input" if stream.path == "/responses" else "messages"
    body = json.dumps({"model": "m", key: [{"role": "user", "content": "Hi"}], "stream": True}).encode()
    provider = "anthropic" if stream.path == "/messages" else "openai"
    request = ProviderRequest(provider, "POST", stream.path, "application/json", body)
    chunks = [(float(number), event) for number, event in enumerate(events)]
    answer = ProviderAnswer(200, "text/event-stream", chunks, is_broken=is_broken)
    return build_trace([exchange(request, answer)], ProcessRun(TRIAL, "t"))


def calls_of(trace: Any) -> list[tuple[str, Any]]:
    return [(call["name"], call["arguments"]) for call in trace.tool_calls]


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_read_as_the_provider_meant_it(name):
    trace = record(STREAMS[name], [STREAMS[name].encode(TEXT, json.dumps(ARGUMENTS))])
    assert calls_of(trace) == [(each, ARGUMENTS) for each in NAMES]
    assert [call["id"] for call in trace.tool_calls] == ["call_0", "call_1"]
    assert trace.messages[-1]["content"] == TEXT
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (30, 7)
    assert (trace.gaps, [call["finish_reason"] for call in trace.llm_calls]) == ({}, ["tool_calls"])


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_comes_in_two_packets_cut_anywhere_gives_the_same_trace(name):
    data = STREAMS[name].encode("\N{TEST TUBE}\u2028.", '{"n":5}')
    assert len(find_traces(STREAMS[name], data, range(1, len(data)))) == 1


@pytest.mark.parametrize("name", STREAMS)
def test_a_long_stream_cut_at_random_gives_the_same_trace(name):
    chance = random.Random(name)  # noqa: S311  (the same places in each run)
    text = "".join(chance.choices("ab \u2028\u0085\r\n\N{TEST TUBE}", k=5_000))
    data = STREAMS[name].encode(text, json.dumps({"note": text}))
    assert len(find_traces(STREAMS[name], data, chance.sample(range(1, len(data)), REPEATS))) == 1


@pytest.mark.parametrize("escapes", [False, True], ids=["as it is", "escaped"])
@pytest.mark.parametrize("end", LINE_ENDS)
@pytest.mark.parametrize("name", STREAMS)
def test_what_python_or_a_browser_calls_a_line_end_is_text(name, end, escapes):
    text, arguments = f"first{LINE_ENDS[end]}second", {f"no{LINE_ENDS[end]}te": f"a{LINE_ENDS[end]}b"}
    for spelled in (json.dumps(arguments), json.dumps(arguments, ensure_ascii=False)):
        trace = record(STREAMS[name], [STREAMS[name].encode(text, spelled, escapes=escapes)])
        assert trace.messages[-1]["content"] == text
        assert calls_of(trace) == [(each, arguments) for each in NAMES]
        assert trace.gaps == {}


@pytest.mark.parametrize("escapes", [False, True], ids=["in the event", "in the arguments"])
@pytest.mark.parametrize("name", STREAMS)
def test_a_half_character_is_shown_and_its_call_is_kept(name, escapes):
    arguments = json.dumps({"note": "x\ud83e"}, ensure_ascii=escapes)
    trace = record(STREAMS[name], [STREAMS[name].encode("y\ud83e", arguments, escapes=True)])
    assert trace.messages[-1]["content"] == "y\ufffd"
    assert [call["name"] for call in trace.tool_calls] == [*NAMES]
    assert "half_character" in [warning["code"] for warning in trace.warnings]
    if not escapes:
        assert calls_of(trace) == [(each, {"note": "x\ufffd"}) for each in NAMES]


@pytest.mark.parametrize("name", STREAMS)
def test_two_halves_in_two_events_are_one_character(name):
    text = "ab\ud83e\uddeacd"
    trace = record(STREAMS[name], [STREAMS[name].encode(text, "{}", escapes=True)])
    assert trace.messages[-1]["content"] == "ab\N{TEST TUBE}cd"


@pytest.mark.parametrize("broken", [b"data: {\n\n", b"data: 5\n\n", b"data: \xff\n\n", b'data: {"a": NaN}\n\n'])
@pytest.mark.parametrize("name", STREAMS)
def test_an_event_that_can_not_be_read_makes_calls_and_answer_incomplete(name, broken):
    data = STREAMS[name].encode(TEXT, json.dumps(ARGUMENTS))
    trace = record(STREAMS[name], [broken + data])
    assert trace.gaps.keys() == {"calls", "messages"}
    assert "unreadable_exchange" in [warning["code"] for warning in trace.warnings]
    assert calls_of(trace) == [(each, ARGUMENTS) for each in NAMES]  # the rest is read


@pytest.mark.parametrize("is_broken", [False, True], ids=["ended", "broken off"])
@pytest.mark.parametrize("name", STREAMS)
def test_arguments_that_were_cut_are_unknown(name, is_broken):
    stream = STREAMS[name]
    data = stream.encode("", json.dumps(ARGUMENTS))
    blank = (2 * stream.line_end).encode()
    for size in range(len(data.split(blank))):
        trace = record(stream, [blank.join([*data.split(blank)[:size], b""])], is_broken=is_broken)
        seen = [given for _, given in calls_of(trace)]
        assert all(given in (None, ARGUMENTS) for given in seen), (size, seen)
        assert trace.status == "error" or len(seen) == len(NAMES)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_was_cut_within_an_event_is_unreadable(name):
    data = STREAMS[name].encode(TEXT, json.dumps(ARGUMENTS))
    at = data.index(b"lookup")
    trace = record(STREAMS[name], [data[:at]])
    assert trace.gaps.keys() == {"calls", "messages"}


def test_a_stream_under_another_content_type_is_read():
    stream = STREAMS["openai"]
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
    request = ProviderRequest("openai", "POST", stream.path, "application/json", body)
    answer = ProviderAnswer(200, "text/plain", [(1.0, stream.encode(TEXT, json.dumps(ARGUMENTS)))])
    assert calls_of(build_trace([exchange(request, answer)], ProcessRun(TRIAL, "t"))) == [
        (each, ARGUMENTS) for each in NAMES
    ]


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b'"x"', b'{"a": 1', b'{"id": "x"}', b'{"choices": [], "content": "", "output": [5]}'],
)
@pytest.mark.parametrize("name", ["openai", "responses", "anthropic"])
def test_a_body_that_can_not_be_read_makes_calls_and_answer_incomplete(name, body):
    key = "input" if name == "responses" else "messages"
    given = json.dumps({"model": "m", key: [{"role": "user", "content": "Hi"}]}).encode()
    request = ProviderRequest("openai", "POST", STREAMS[name].path, "application/json", given)
    trace = build_trace(
        [exchange(request, ProviderAnswer(200, "application/json", [(1.0, body)]))], ProcessRun(TRIAL, "t")
    )
    assert trace.gaps.keys() == {"calls", "messages"}
    assert "unreadable_exchange" in [warning["code"] for warning in trace.warnings]


@pytest.mark.parametrize(
    "given", [b"", b"no", b"[]", b'{"model": "m"}', b'{"messages": ["Hi"]}', b'{"messages": {"a": 1}}']
)
def test_a_request_that_can_not_be_read_makes_calls_and_answer_incomplete(given):
    request = ProviderRequest("openai", "POST", "/chat/completions", "application/json", given)
    trace = build_trace([exchange(request)], ProcessRun(TRIAL, "t"))
    assert trace.gaps.keys() == {"calls", "messages"}


def test_a_request_with_a_half_character_is_read_and_found_again():
    body = b'{"model": "m", "messages": [{"role": "user", "content": "x\\ud83e"}]}'
    request = ProviderRequest("openai", "POST", "/chat/completions", "application/json", body)
    trace = build_trace([exchange(request)], ProcessRun(TRIAL, "t"))
    assert (trace.messages[0]["content"], trace.gaps) == ("x\ufffd", {})
    assert [warning["code"] for warning in trace.warnings if warning["code"] == "half_character"] == ["half_character"]
    assert isinstance(replay(build_cassette(exchange(request))).find_answer(request), Exchange)


def test_a_failed_call_whose_answer_is_no_json_leaves_no_gap_once_it_was_made_again():
    stream = STREAMS["openai"]
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
    request = ProviderRequest("openai", "POST", stream.path, "application/json", body)
    cut = ProviderAnswer(200, "text/event-stream", [(1.0, b'data: {"choi')], is_broken=True)
    whole = ProviderAnswer(200, "text/event-stream", [(1.0, stream.encode(TEXT, json.dumps(ARGUMENTS)))])
    exchanges = [exchange(request, cut, 1.0), exchange(request, whole, 2.0)]
    assert build_trace(exchanges, ProcessRun(TRIAL, "t")).gaps == {}


def test_a_cassette_whose_path_has_a_query_shows_its_messages():
    data = STREAMS["anthropic"].encode(TEXT, json.dumps(ARGUMENTS))
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}).encode()
    request = ProviderRequest("anthropic", "POST", "/messages", "application/json", body, (("beta", "true"),))
    made = build_cassette(exchange(request, ProviderAnswer(200, "text/event-stream", [(1.0, data)])))
    assert calls_of(rebuild_trace(made, "c.jsonl")) == [(each, ARGUMENTS) for each in NAMES]
