"""A cassette that was forged or damaged is refused, with its line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_cassettes import TRIAL, build_cassette

from evalgate.errors import InvalidInput
from evalgate.features.record.adapters.exchanges.cassette_file import decode_cassette, encode_cassette
from evalgate.features.record.application.stored_responses import load_response
from evalgate.features.record.models import cassette as model

DATA = encode_cassette(build_cassette())


def test_a_cassette_reads_back_equal():
    assert encode_cassette(decode_cassette(DATA, "c.jsonl", TRIAL)) == DATA


def test_a_cassette_of_an_earlier_version_loads():
    """Its answers have no text beside their JSON."""
    lines = [json.loads(line) for line in DATA.splitlines()]
    assert lines[1]["response"].pop("text")
    earlier = "".join(json.dumps(line) + "\n" for line in lines).encode()
    assert (
        json.loads(load_response(decode_cassette(earlier, "c.jsonl", TRIAL).exchanges[0].response).body)
        == (lines[1]["response"]["json"])
    )


def forge(number: int, **changes: Any) -> bytes:
    """Changes fields of a line, as `response__status`."""
    lines = [json.loads(line) for line in DATA.splitlines()]
    for name, value in changes.items():
        *places, last = name.split("__")
        target = lines[number]
        for place in places:
            target = target[place]
        target[last] = value
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize(
    ("number", "changes", "reason"),
    [
        (1, {"request__model": "other"}, "c.jsonl:2: this cassette is refused: the key is not that of the request"),
        (1, {"key": "0" * 64}, "the key is not that of the request"),
        (1, {"response__status": 99}, "status"),
        (1, {"response__headers": {"content-type": "application/json", "set-cookie": "a"}}, "other headers"),
        (1, {"response__headers": {"content-type": "text/html"}}, "other headers"),
        (1, {"response__base64": "YQ=="}, "no body, several"),
        (1, {"response__text": "both"}, "the text of the response is not its json"),
        (1, {"response__text": '{"id": "c2"}'}, "the text of the response is not its json"),
        (1, {"response__text": 5}, "not text"),
        (1, {"n": 2}, "`n`"),
        (1, {"recorded_at": "yesterday"}, "recorded_at"),
        (1, {"duration_ms": -1}, "number"),
        (1, {"command": "rm"}, "unknown fields"),
        (0, {"schema": "evalgate.exchange/9"}, "c.jsonl:1: this cassette is refused: the first line is not the header"),
        (0, {"scenario": "other"}, "another scenario"),
        (0, {"rules_version": 0}, "other rules"),
    ],
)
def test_a_forged_cassette_is_refused(number, changes, reason):
    with pytest.raises(InvalidInput, match="this cassette is refused") as refused:
        decode_cassette(forge(number, **changes), "c.jsonl", TRIAL)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a":1,"a":2}', "twice"),
        (b"[" * 100 + b"]" * 100, "64"),
        (b'{"a":NaN}', "JSON"),
        (b"x" * model.MAX_BYTES, "larger"),
        (b"\n" * model.MAX_EXCHANGES, "more than"),
        (b"", "JSON"),
    ],
    ids=["duplicate", "deep", "nan", "large", "many", "empty"],
)
def test_a_damaged_cassette_is_refused(line, reason):
    with pytest.raises(InvalidInput) as refused:
        decode_cassette(DATA + line + b"\n", "c.jsonl", TRIAL)
    assert reason in str(refused.value)
