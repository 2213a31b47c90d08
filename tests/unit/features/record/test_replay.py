"""Requests with equal keys, answers in their order, differences of a missing request, secrets across events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from recorded_cassettes import TRIAL, USER, answer, build_cassette, chat, exchange, replay

from evalgate.features.record.adapters.exchanges.cassette_file import decode_cassette, encode_cassette
from evalgate.features.record.application.stored_responses import load_response, store_response
from evalgate.features.record.application.trials import CacheRules, RecordedTrial
from evalgate.features.record.measures.canonical import canonicalise, compute_key
from evalgate.features.record.measures.event_stream import EventSplitter
from evalgate.features.record.measures.masks import Masks
from evalgate.features.record.measures.paths import build_trial_path, encode_part
from evalgate.features.record.models.exchange import Exchange, ProviderAnswer, ProviderRequest, TrialId
from evalgate.measures.redaction.redact import hide_secrets

if TYPE_CHECKING:
    from collections.abc import Callable


def key(request: ProviderRequest, **rules: Any) -> str:
    return compute_key(canonicalise(request, Masks(**rules)))


def tool_messages(first: str, second: str) -> list[dict[str, Any]]:
    calls = [{"id": each, "type": "function", "function": {"name": "f", "arguments": "{}"}} for each in (first, second)]
    results = [{"role": "tool", "tool_call_id": each, "content": "same"} for each in (first, second)]
    return [USER, {"role": "assistant", "content": None, "tool_calls": calls}, *results]


@given(st.text(min_size=1), st.text(min_size=1))
def test_other_ids_give_the_same_key_and_joined_ids_another_one(first, second):
    if first != second:
        assert key(chat(*tool_messages(first, second))) == key(chat(*tool_messages("a", "b")))
    assert key(chat(*tool_messages(first, first))) != key(chat(*tool_messages("a", "b")))


@given(st.text(), st.text())
def test_a_changed_word_gives_another_key(one, other):
    keys = {key(chat({"role": "user", "content": f"x {text}"}), has_built_in=False) for text in (one, other)}
    assert len(keys) == len({one, other})


@pytest.mark.parametrize(
    "more",
    [
        {"user": "u"},
        {"metadata": {"a": "b"}},
        {"store": True},
        {"prompt_cache_key": "k"},
        {"service_tier": "auto"},
        {"stream_options": {"include_usage": True}},
    ],
    ids=lambda more: next(iter(more)),
)
def test_what_changes_no_answer_is_left_out(more):
    assert key(chat(USER, **more)) == key(chat(USER))


@pytest.mark.parametrize(
    "more", [{"seed": 1}, {"stream": True}, {"parallel_tool_calls": False}, {"unknown": 0}], ids=str
)
def test_what_may_change_an_answer_counts(more):
    assert key(chat(USER, **more)) != key(chat(USER))


def test_times_and_uuids_in_messages_are_masked_and_elsewhere_not():
    def at(hour: int, model: str = "m") -> ProviderRequest:
        text = f"It is 2026-01-02T0{hour}:00:00Z, run 0000000{hour}-0000-4000-8000-000000000000"
        return chat({"role": "user", "content": text}, model=model)

    assert key(at(1)) == key(at(2))
    assert key(at(1), has_built_in=False) != key(at(2), has_built_in=False)
    assert key(at(1, "2026-01-02T01:00")) != key(at(1, "2026-01-02T02:00"))


def test_a_long_picture_is_stored_as_its_digest():
    url = "data:image/png;base64," + "QUJD" * 1000
    request = chat({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]})
    found = canonicalise(request, Masks())["body"]["messages"][0]["content"][0]["image_url"]["url"]
    assert (found["$bytes"], found["$type"]) == (3000, "image/png")


def test_the_version_and_the_host_are_no_part_of_the_key_and_the_provider_is():
    assert key(replace(chat(USER), provider="anthropic")) != key(chat(USER))


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


SPELLINGS: list[Callable[[Any], str]] = [
    json.dumps,
    lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    lambda value: json.dumps(value, separators=(",", ":"), sort_keys=True),
    lambda value: f" {json.dumps(value)}\r\n",
]


@given(JSON_VALUES, st.sampled_from(SPELLINGS))
def test_an_answer_without_a_secret_is_replayed_byte_for_byte_from_the_file(value, spell):
    body = spell(value).encode("utf-8", "surrogatepass")
    made = build_cassette(exchange(chat(USER), ProviderAnswer(200, "application/json", [(1.0, body)])))
    if "[redacted" not in str(made):
        found = replay(decode_cassette(encode_cassette(made), "c.jsonl")).find_answer(chat(USER))
        assert isinstance(found, Exchange)
        assert found.answer.body == body


@pytest.mark.parametrize(
    "body",
    [b'{"b":1,"a":2}', b'{"a": 1.0}', b'{"a":1.00}', b'{"a":1e5}', b'"\\u0041"', b'{"a":"\\ud83e"}', b'{"a":1,"a":2}',
     b'{"n":12345678901234567890123}', b"\xff", b"", b"true", b'{"a":"\xe2\x80\xa8"}', b'{"a":"\\/"}', b"<p>no</p>"],
)  # fmt: skip
@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
def test_a_body_is_replayed_as_the_provider_spelled_it(body, content_type):
    made = build_cassette(exchange(chat(USER), ProviderAnswer(200, content_type, [(1.0, body)])))
    found = replay(decode_cassette(encode_cassette(made), "c.jsonl")).find_answer(chat(USER))
    assert isinstance(found, Exchange)
    assert found.answer.body == body


def test_a_redacted_body_has_no_text_and_a_name_that_stands_twice_hides_no_secret():
    secret = "ghp_" + "a1B2" * 9
    for body in (f'{{"b":"{secret}","a":1}}', f'{{"a":"{secret}","a":1}}'):
        stored = store_response(ProviderAnswer(200, "application/json", [(1.0, body.encode())]))
        assert secret not in str(stored.response)
        assert stored.redacted_at is not None
        assert len({"json", "text"}.intersection(stored.response)) == 1
    event = f'data: {{"a":"{secret}","a":1}}\n\n'.encode()
    assert secret not in str(store_response(ProviderAnswer(200, "text/event-stream", [(1.0, event)])).response)


@given(st.lists(st.binary(max_size=20)))
def test_events_are_replayed_byte_for_byte(parts):
    given = ProviderAnswer(
        200, "text/event-stream", [(float(i), b"data: " + part + b"\n\n") for i, part in enumerate(parts)]
    )
    stored = store_response(given)
    if stored.redacted_at is None:
        assert load_response(stored.response).chunks == given.chunks


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"\n\n"]), max_size=12), st.integers(1, 5))
def test_a_stream_is_split_alike_however_it_comes(parts, size):
    data = b"".join(parts)
    whole, slowly = EventSplitter(), EventSplitter()
    at_once = [*whole.feed(data)]
    in_parts = [event for start in range(0, len(data), size) for event in slowly.feed(data[start : start + size])]
    assert (at_once, whole.rest) == (in_parts, slowly.rest)
    assert b"".join(at_once) + whole.rest == data


@pytest.mark.parametrize("cut", [3, 9, 20])
def test_a_secret_that_is_split_over_events_is_redacted(cut):
    secret = "ghp_" + "a1B2" * 9
    parts = [secret[:cut], secret[cut:]]
    deltas = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in parts]
    chunks = [(0.0, f"data: {json.dumps(delta)}\n\n".encode()) for delta in deltas]
    stored = store_response(ProviderAnswer(200, "text/event-stream", chunks))
    events = [json.loads(text[6:])["choices"][0]["delta"]["content"] for _, text in stored.response["events"]]
    assert events == ["[redacted: GitHub token]", ""]
    assert stored.redacted_at == "events[0][1]"


def test_equal_requests_get_their_answers_in_order_and_one_more_is_missing():
    cassette = build_cassette(exchange(chat(USER), answer("one"), 1.0), exchange(chat(USER), answer("two"), 2.0))
    replayed = replay(cassette)
    texts = []
    for _ in range(2):
        found = replayed.find_answer(chat(USER))
        assert isinstance(found, Exchange)
        texts.append(json.loads(found.answer.body)["choices"][0]["message"]["content"])
    assert texts == ["one", "two"]
    missing = replayed.find_answer(chat(USER))
    assert isinstance(missing, ProviderAnswer)
    assert (missing.status, missing.headers) == (500, {"x-should-retry": "false"})


def test_a_stream_is_never_the_answer_to_a_request_without_one():
    assert isinstance(replay(build_cassette()).find_answer(chat(USER, stream=True)), ProviderAnswer)


@pytest.mark.parametrize(
    ("messages", "more", "place"),
    [
        ([{"role": "user", "content": "Ho"}], {}, "messages[0] (user).content"),
        ([USER, USER], {}, "messages[1] (user)"),
        ([USER], {"tools": [1]}, "tools"),
        ([USER], {"model": "n"}, "model"),
    ],
)
def test_a_missing_request_names_what_differs(messages, more, place):
    replayed = replay(build_cassette())
    replayed.find_answer(chat(*messages, **more))
    assert replayed.misses[0].describe()[0].endswith(f"differs from the nearest one in {place}")


def test_an_equal_exchange_keeps_its_line():
    old = build_cassette(exchange(chat(USER), at=1.0))
    again = RecordedTrial(TRIAL, CacheRules("write"), old)
    again.add_exchange(exchange(chat(USER), at=99.0))
    assert again.build_cassette(old.header) is None


@given(st.text(min_size=1, max_size=150), st.text(min_size=1, max_size=150))
def test_two_ids_have_two_paths_of_safe_characters(one, other):
    paths = [build_trial_path(TrialId("s", each, None, 0)) for each in (one, other)]
    assert (paths[0] == paths[1]) == (one == other)
    assert all(len(encode_part(each)) <= 100 for each in (one, other))
    assert not {*paths[0]} - {*"%/-_."} - {chr(code) for code in range(128) if chr(code).isalnum()}


@pytest.mark.parametrize("levels", [50, 60, 61, 62, 63, 64, 65, 100])
def test_deeply_nested_requests_and_answers_are_replayed_from_the_file(levels):
    deep = b'{"messages":' + b"[" * levels + b"]" * levels + b"}"
    request = ProviderRequest("openai", "POST", "/chat/completions", "application/json", deep)
    made = build_cassette(exchange(request, ProviderAnswer(200, "application/json", [(1.0, deep)])))
    read = decode_cassette(encode_cassette(made), "c.jsonl")
    found = replay(read).find_answer(request)
    assert isinstance(found, Exchange)
    assert found.answer.body == deep


SECRET = 'pa"ss\\w\u00f6rd-4711'
STREAMED = {
    "chat": lambda part: {
        "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}}]
    },
    "anthropic": lambda part: {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": part},
    },
    "responses": lambda part: {"type": "response.function_call_arguments.delta", "item_id": "i", "delta": part},
}


@pytest.mark.parametrize("shape", STREAMED)
@pytest.mark.parametrize("cut", [9, 12, 14, 20])
def test_a_secret_that_json_quotes_is_in_no_streamed_argument(shape, cut):
    arguments = json.dumps({"login": SECRET})
    events = [STREAMED[shape](part) for part in (arguments[:cut], arguments[cut : cut + 5], arguments[cut + 5 :])]
    chunks = [(1.0, f"data: {json.dumps(event)}\n\n".encode()) for event in events]
    hide_secrets([SECRET])
    try:
        stored = store_response(ProviderAnswer(200, "text/event-stream", chunks))
    finally:
        hide_secrets([])
    parts = [json.loads(text[5:]) for _, text in stored.response["events"]]
    assert "[redacted: secret]" in json.dumps(parts)
    assert not any(piece in json.dumps(parts) for piece in ("ss\\", "rd-4711", "4711"))


def test_placeholders_for_keys_are_no_secrets():
    hidden: list[str] = []
    recorded = RecordedTrial(TRIAL, CacheRules("write", hide_credentials=hidden.extend))
    recorded.note_credentials(["", "EMPTY", "ollama", "placeholder", "evalgate-replay", "sk-test-1", "a" * 16])
    assert hidden == ["sk-test-1", "a" * 16]
