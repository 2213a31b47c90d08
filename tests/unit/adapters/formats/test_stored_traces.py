"""What a baseline keeps of a trace: the record as it was read or the native form, redacted, and read again."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from builders import make_trace

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.stored_traces import (
    encode_stored_trace,
    read_stored_trace,
    read_stored_traces,
)
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.application.evaluation.trajectories import source_of
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, Trace
from evalgate.models.trace.trace_document import encode_trace

RECORDINGS = Path(__file__).parents[3] / "recordings"
FILES = sorted(path.relative_to(RECORDINGS).as_posix() for path in RECORDINGS.rglob("*.*") if path.is_file())
COSTLY = orjson.dumps(
    {
        "record": {"schema": "evalgate.trace/1", "messages": [{"role": "user", "content": "Hi"}]},
        "format": "native",
        "source": {},
        "cost": 5,
    }
)
SECRET = "ghp_" + "a1B2" * 9


def traces_in(folder: Path, pattern: str) -> list[Trace]:
    found = TraceFiles(Workspace(None, str(folder))).read([pattern], "")
    return [record for record in found if isinstance(record, Trace)]


@pytest.mark.parametrize("name", FILES)
def test_a_trace_of_every_format_comes_back(name):
    for trace in traces_in(RECORDINGS, name):
        line = encode_stored_trace(trace)
        assert source_of(line) == (trace.source.path, trace.source.line, trace.source.record)
        if b"[redacted" not in line:
            assert encode_trace(read_stored_trace(line)) == encode_trace(trace)


def test_a_line_of_chat_is_kept_as_it_was_read(tmp_path):
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}], "extra": [1]}
    (tmp_path / "a.jsonl").write_text(json.dumps(chat) + "\n" + json.dumps(chat) + "\n", encoding="utf-8")
    trace = traces_in(tmp_path, "a.jsonl")[1]
    entry = orjson.loads(encode_stored_trace(trace))
    assert (entry["format"], entry["record"]) == ("openai-chat", chat)
    assert entry["source"]["sha256"] == trace.source.sha256


def test_fields_that_the_record_does_not_have_are_kept_beside_it(tmp_path):
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    (tmp_path / "a.json").write_text(json.dumps(chat), encoding="utf-8")
    (trace,) = traces_in(tmp_path, "a.json")
    trace.scenario_id, trace.trial = "assigned", 3
    trace.cost = {"usd": 0.5, "source": "computed", "price_table": "suite"}
    found = read_stored_trace(encode_stored_trace(trace))
    assert (found.scenario_id, found.trial, found.cost) == ("assigned", 3, trace.cost)


def test_a_trace_of_an_older_baseline_is_read():
    trace = make_trace(["look_up", ("pay", {"amount": 1})], "Done.", path="a.json")
    assert encode_trace(read_stored_trace(orjson.dumps(encode_trace(trace)))) == encode_trace(trace)


@pytest.mark.parametrize(
    "place",
    [
        {"messages": [{"role": "user", "content": f"my key is {SECRET}"}, {"role": "assistant", "content": "ok"}]},
        {
            "messages": [
                {"role": "user", "content": "Hi"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "1",
                            "type": "function",
                            "function": {"name": "login", "arguments": json.dumps({"key": SECRET})},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "1", "content": "ok"},
            ]
        },
        {
            "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "ok"}],
            "metadata": {"token": SECRET, SECRET: 1, "deep": [[{"x": SECRET}]]},
        },
    ],
)
def test_secrets_are_not_kept(tmp_path, place):
    (tmp_path / "a.json").write_text(json.dumps(place), encoding="utf-8")
    (trace,) = traces_in(tmp_path, "a.json")
    line = encode_stored_trace(trace)
    assert SECRET.encode() not in line
    assert b"[redacted" in line
    assert isinstance(read_stored_trace(line), Trace)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "ends unexpectedly"),
        (b"[]", "is not an object"),
        (b'{"record": {}}', "its format is not one of this version's"),
        (b'{"record": {}, "format": ["native"]}', "its format is not one of this version's"),
        (b'{"record": {}, "format": "native", "source": {}}', "schema is missing"),
        (b'{"record": 5, "format": "native", "source": {}}', "is not an object"),
        (b'{"record": {}, "format": "native", "source": 5}', "source is not an object"),
        (COSTLY, "cost is not an object"),
    ],
)  # fmt: skip
def test_a_damaged_line_is_a_damaged_trace(line, reason):
    with pytest.raises(TraceError, match=reason):
        read_stored_trace(line)
    (found,) = read_stored_traces([line], "b.zip")
    assert isinstance(found, DamagedTrace)
    assert (found.source.path, found.source.line, found.fallback_id) == ("b.zip", 1, "b.zip#L1")
