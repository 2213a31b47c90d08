"""A secret that is cut over the events of a stream is in no byte of what a cassette stores, whatever the shape."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from evalgate.features.record.application.stored_responses import load_response, store_response
from evalgate.features.record.models.exchange import ProviderAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "ghp_" + "a1B2c3" * 6
STREAM = "text/event-stream"


def in_choice(**delta: Any) -> Any:
    return {"choices": [{"index": 0, "delta": delta}]}


EVENTS: dict[str, Callable[[str], Any]] = {
    "chat text": lambda part: in_choice(content=part),
    "chat arguments": lambda part: in_choice(tool_calls=[{"index": 0, "function": {"arguments": part}}]),
    "chat arguments without an index": lambda part: in_choice(tool_calls=[{"function": {"arguments": part}}]),
    "chat name": lambda part: in_choice(tool_calls=[{"index": 0, "function": {"name": part}}]),
    "chat reasoning": lambda part: in_choice(reasoning=part, reasoning_details=[{"text": part}]),
    "chat audio": lambda part: in_choice(audio={"transcript": part}),
    "chat tokens": lambda part: {
        "choices": [{"index": 0, "delta": {}, "logprobs": {"content": [{"token": part, "bytes": [*part.encode()]}]}}]
    },
    "responses text": lambda part: {"type": "response.output_text.delta", "output_index": 0, "delta": part},
    "responses code": lambda part: {"type": "response.code_interpreter_call_code.delta", "output_index": 0, "delta": part},
    "anthropic text": lambda part: {"type": "content_block_delta", "index": 0, "delta": {"text": part}},
    "anthropic thinking": lambda part: {"type": "content_block_delta", "index": 0, "delta": {"thinking": part}},
    "anthropic citation": lambda part: {
        "type": "content_block_delta", "index": 0, "delta": {"citation": {"cited_text": part}}
    },
    "gemini text": lambda part: {"candidates": [{"content": {"parts": [{"text": part}]}}]},
    "unknown": lambda part: {"kind": "x", "deep": {"list": [{"of": part}]}},
    "a text of JSON": lambda part: part,
}  # fmt: skip


def encode(value: Any) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode("utf-8", "surrogateescape")


SPELLINGS: dict[str, Callable[[Any], bytes]] = {
    "an event": encode,
    "an event in lines": lambda value: b"".join(b"data: %b\n" % line for line in json.dumps(value, indent=1).encode().split(b"\n")) + b"\n",
    "with U+2028": lambda value: encode([value, "\u2028"]),
    "with bytes that are no UTF-8": lambda value: encode([value, "\udcff"]),
    "with a half character": lambda value: f"data: {json.dumps([value, chr(0xD83E)])}\r\n\r\n".encode(),
    "with another line": lambda value: b"id: 7\revent: x\r" + encode(value).replace(b"\n", b"\r"),
}  # fmt: skip


def stored_bytes(events: list[bytes], content_type: str = STREAM) -> bytes:
    chunks = [(float(number), event) for number, event in enumerate(events)]
    stored = store_response(ProviderAnswer(200, content_type, chunks))
    assert stored.redacted_at is not None
    return json.dumps(stored.response).encode() + load_response(stored.response).body


def is_hidden(text: bytes) -> bool:
    pieces = [SECRET[at : at + 6] for at in range(4, len(SECRET) - 6)]
    as_numbers = ", ".join(map(str, SECRET[4:10].encode()))
    return not any(piece.encode() in text for piece in pieces) and as_numbers.encode() not in text


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("shape", EVENTS)
def test_a_secret_cut_over_events_is_stored_nowhere(shape, spelling):
    for cuts in ([6], [20], [3, 9, 30], range(1, len(SECRET))):
        places = [0, *cuts, len(SECRET)]
        parts = [SECRET[start:end] for start, end in pairwise(places)]
        events = [SPELLINGS[spelling](EVENTS[shape](part)) for part in parts]
        assert is_hidden(stored_bytes(events))


@pytest.mark.parametrize("line", [f": keep-alive {SECRET}", f"id: {SECRET}", f"event: {SECRET}"])
def test_other_lines_of_an_event_are_redacted(line):
    assert is_hidden(stored_bytes([f'{line}\ndata: {{"a": 1}}\n\n'.encode()]))


def test_plain_texts_of_events_are_redacted_together():
    assert is_hidden(stored_bytes([f"data: {SECRET[:9]}\n\n".encode(), f"data: {SECRET[9:]}\n\n".encode()]))


@pytest.mark.parametrize("content_type", ["application/x-ndjson", "text/plain", "application/json"])
def test_a_stream_of_json_lines_and_one_of_another_content_type_are_redacted(content_type):
    parts = [json.dumps({"message": {"content": part}}).encode() for part in (SECRET[:9], SECRET[9:])]
    assert is_hidden(stored_bytes([b"\n".join([*parts, b""])], content_type))
    assert is_hidden(stored_bytes([b"".join(b"data: %b\n\n" % part for part in parts)], content_type))


def test_the_tokens_of_an_answer_that_is_no_stream_are_redacted():
    tokens = [
        {"token": part, "bytes": [*part.encode()], "top_logprobs": [{"token": part}, {"token": "x"}]} for part in SECRET
    ]
    body = {"choices": [{"message": {"content": SECRET}, "logprobs": {"content": tokens}}]}
    assert is_hidden(stored_bytes([json.dumps(body).encode()], "application/json"))


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("shape", EVENTS)
def test_events_without_a_secret_stay_as_they_are(shape, spelling):
    events = [SPELLINGS[spelling](EVENTS[shape](part)) for part in ("ab\u0085", "\u2028c ", "")]
    chunks = [(float(number), event) for number, event in enumerate(events)]
    stored = store_response(ProviderAnswer(200, STREAM, chunks))
    assert stored.redacted_at is None
    assert load_response(stored.response).chunks == chunks


def test_tokens_of_an_answer_are_no_secrets_for_the_name_of_their_field():
    tokens = [{"token": "Hello", "logprob": -0.1, "top_logprobs": [{"token": "Hi"}]}]
    body = {"choices": [{"logprobs": {"content": tokens}}], "token": "a1b2c3d4"}
    stored = store_response(ProviderAnswer(200, "application/json", [(1.0, json.dumps(body).encode())]))
    assert stored.response["json"]["choices"][0]["logprobs"]["content"] == tokens
    assert stored.redacted_at == "json.token"
