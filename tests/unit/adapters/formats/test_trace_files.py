from __future__ import annotations

import gzip
import hashlib
import json

import pytest
from fakes.files import MemoryFiles

from evalgate.adapters.formats.core.format import TraceLimits
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.errors import OverLimit, SettingError
from evalgate.models.trace.trace import DamagedTrace, Trace


def native(user="hi", **fields):
    return {"schema": "evalgate.trace/1", "messages": [{"role": "user", "content": user}], **fields}


def line(user="hi", **fields):
    return json.dumps(native(user, **fields)).encode()


def read(content, name="t/a.json", form="auto", **limits):
    files = MemoryFiles({name: content} if isinstance(content, bytes) else content)
    return list(TraceFiles(files, TraceLimits(**limits)).read(["t"], "", form))


def only(records):
    assert len(records) == 1
    return records[0]


def sha(content):
    return hashlib.sha256(content).hexdigest()


def test_a_document_is_a_trace_named_by_its_path():
    content = b" " + line() + b"\n"
    trace = only(read(content, "t/deep/refund.json"))
    assert trace.scenario_id == "deep/refund"
    assert (trace.source.path, trace.source.format, trace.source.line, trace.source.record) == (
        "t/deep/refund.json",
        "native",
        None,
        None,
    )
    assert trace.source.sha256 == sha(content)
    assert trace.trace_id == sha(content)[:32]


def test_a_document_over_many_lines_is_one_trace():
    content = json.dumps(native(scenario_id="s"), indent=1).encode()
    assert only(read(content)).scenario_id == "s"


@pytest.mark.parametrize(
    ("name", "scenario"),
    [
        ("a.json", "a"),
        ("a.jsonl", "a"),
        ("a.json.gz", "a"),
        ("a.pb", "a"),
        ("a.binpb.gz", "a"),
        ("v1.2", "v1.2"),
        ("a.trace.json", "a.trace"),
        (".json", ".json"),
        ("d/.json", "d/.json"),
    ],
)
def test_the_suffix_is_no_part_of_the_name(name, scenario):
    assert only(read(line(), f"t/{name}")).scenario_id == scenario


def test_a_very_long_path_makes_an_id_of_allowed_length():
    one, other = (only(read(line(), f"t/{first}{'x' * 600}.json")).scenario_id for first in "ab")
    assert len(one) == len(other) == 512
    assert one != other


def test_lines_are_traces_with_their_place_and_hash():
    rows = [line("one", scenario_id="a"), b"", line("two"), line("two", trial=1), line("three", trace_id="x")]
    traces = read(b"\r\n".join(rows), "t/all.jsonl")
    assert [trace.source.line for trace in traces] == [1, 3, 4, 5]
    assert [trace.source.sha256 for trace in traces] == [sha(row) for row in rows if row]
    assert traces[0].scenario_id == "a"
    assert traces[1].scenario_id == traces[2].scenario_id == f"all#{sha(b'two')[:12]}"
    assert traces[3].scenario_id == f"all#{sha(b'three')[:12]}"
    assert traces[3].trace_id == "x"


def test_a_list_in_a_document_is_a_trace_each_with_its_record():
    traces = read(json.dumps([native(scenario_id="a"), native("b")]).encode())
    assert [(trace.source.record, trace.source.line) for trace in traces] == [(0, None), (1, None)]
    assert traces[1].scenario_id == f"a#{sha(b'b')[:12]}"
    assert traces[0].trace_id != traces[1].trace_id


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: gzip.compress(b"\xef\xbb\xbf" + content),
    ],
)
@pytest.mark.parametrize(
    "content",
    [
        line(scenario_id="s"),
        line(scenario_id="s") + b"\n" + line(scenario_id="s"),
        json.dumps(native(scenario_id="s"), indent=2).encode(),
    ],
)
def test_packing_and_a_byte_order_mark_change_nothing(pack, content):
    plain, packed = read(content), read(pack(content), "t/a.anything")
    assert [trace.scenario_id for trace in packed] == [trace.scenario_id for trace in plain]
    assert all(isinstance(trace, Trace) for trace in packed)


def test_files_come_in_the_order_of_their_paths_and_once():
    files = MemoryFiles({f"t/{name}.json": line(scenario_id=name) for name in "cab"})
    found = TraceFiles(files).read(["t/b", "t", "t/a"], "")
    assert [trace.scenario_id for trace in found] == ["a", "b", "c"]


@pytest.mark.parametrize("content", [b"", b"\n\n  \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_damage(content):
    damaged = only(read(content))
    assert isinstance(damaged, DamagedTrace)
    assert (damaged.reason, damaged.fallback_id, damaged.source.path) == (
        "the file is empty",
        "a.json",
        "t/a.json",
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"hello", "not valid JSON"),
        (b"hello\nworld\n", "not valid JSON"),
        (
            b'{"widgets": []}',
            "no format matches an object with `widgets` (for your own JSON format use `format: custom`: `evalgate init --format-help FILE` prints a mapping)",
        ),
        (b'{"resourceSpans": []}', "it contains no trace"),
        (b"5", "no format matches a single value"),
        (b"5\n6\n7\n", "no format matches a single value"),
        (
            b"PK\x03\x04....",
            "a zip archive of an unknown format; unpack it first (a baseline is for `evalgate run --baseline`)",
        ),
        ("{}".encode("utf-16"), "UTF-16"),
        (gzip.compress(line() * 100, mtime=0)[:60], "can't be unpacked"),
        (b"\x1f\x8b" + b"x" * 50, "can't be unpacked"),
        (b'{"schema": "evalgate.trace/1",\n "messages": [', "the JSON ends unexpectedly, at line 2"),
        (b'{"schema": "evalgate.trace/1"', "the JSON ends unexpectedly"),
        (b"\xff\xff{}", "byte 1 is not UTF-8"),
    ],
)
def test_an_unreadable_file_is_one_damaged_trace_that_says_why(content, reason):
    damaged = only(read(content))
    assert isinstance(damaged, DamagedTrace)
    assert reason in damaged.reason
    assert damaged.fallback_id == "a.json"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"schema":"evalgate.trace/1","messages":[],"scenario_id":"s","trial":4,"cost_usd":NaN}', "NaN"),
        (
            b'{"schema":"evalgate.trace/1","messages":[],"scenario_id":"s","trial":4,"cost_usd":1,"cost_usd":2}',
            "`cost_usd` appears twice",
        ),
        (
            b'{"schema":"evalgate.trace/1","messages":[],"scenario_id":"s","trial":4,"cost_usd":true}',
            "cost_usd is not a number",
        ),
        (
            b'{"schema":"evalgate.trace/1","messages":{},"scenario_id":"s","trial":4}',
            "messages is not a list",
        ),
        (
            b'{"schema":"evalgate.trace/1","messages":[],"scenario_id":"s","trial":4,"cost_usd":1e999}',
            "a number is too large",
        ),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_damaged_line_keeps_its_id_and_the_others_are_read(bad, reason, place):
    rows = [line(scenario_id="a"), line(scenario_id="b")]
    rows.insert(place, bad)
    records = read(b"\n".join(rows))
    damaged = records.pop(place)
    assert [record.scenario_id for record in records] == ["a", "b"]
    assert isinstance(damaged, DamagedTrace)
    assert reason in damaged.reason
    assert (damaged.scenario_id, damaged.trial) == ("s", 4)
    assert (damaged.fallback_id, damaged.source.line) == (f"a.json#L{place + 1}", place + 1)


@pytest.mark.parametrize("place", [0, 1])
def test_a_line_that_is_not_json_has_a_location_and_no_id(place):
    rows = [line(scenario_id="a"), line(scenario_id="b")]
    rows.insert(place, b'{"schema": "evalgate.trace/1", "scenario_id": "s", "mess')
    damaged = read(b"\n".join(rows))[place]
    assert isinstance(damaged, DamagedTrace)
    assert damaged.scenario_id is None
    assert damaged.fallback_id == f"a.json#L{place + 1}"


def test_a_damaged_document_keeps_its_id():
    damaged = only(read(json.dumps(native(scenario_id="s", trial=1, cost_usd=float("nan")), indent=1).encode()))
    assert isinstance(damaged, DamagedTrace)
    assert (damaged.scenario_id, damaged.trial, damaged.fallback_id) == ("s", 1, "a.json")


def test_a_document_of_no_traces_is_damage():
    damaged = only(read(b'{"info": {}, "simulations": [], "tasks": []}'))
    assert isinstance(damaged, DamagedTrace)
    assert damaged.reason == "it contains no trace"


def test_a_duplicate_id_names_no_scenario():
    damaged = only(read(b'{"schema":"evalgate.trace/1","messages":[],"scenario_id":"s","scenario_id":"t"}'))
    assert damaged.scenario_id is None


def test_a_damaged_record_of_a_document_names_its_record():
    damaged = read(json.dumps([native(scenario_id="a"), native(scenario_id="b", trial="x")]).encode())[1]
    assert (damaged.scenario_id, damaged.source.record, damaged.fallback_id) == ("b", 1, "a.json#1")


def test_a_line_of_another_format_is_damage_in_a_native_file():
    records = read(b'{"messages":[{"role":"user","content":"x"}]}\n' + line(scenario_id="a"))
    assert "native needs" in records[0].reason
    assert records[1].scenario_id == "a"


def test_lines_of_openai_messages_are_conversations():
    row = json.dumps({"messages": [{"role": "user", "content": "x"}]}).encode()
    traces = read(row + b"\n" + json.dumps([{"role": "user", "content": "y"}]).encode())
    assert [trace.source.format for trace in traces] == ["openai-chat", "openai-chat"]


def test_a_chosen_format_forces_its_reader():
    assert "tau2 needs" in only(read(line(), form="tau2")).reason
    assert only(read(line(), form="native")).source.format == "native"
    with pytest.raises(SettingError):
        read(line(), form="nativ")


def test_a_record_over_the_limit_is_damage_and_the_next_line_is_read():
    rows = [line("x" * 500, scenario_id="a"), line(scenario_id="b")]
    for order in (rows, rows[::-1]):
        records = read(b"\n".join(order), record_bytes=300)
        assert sorted(type(record).__name__ for record in records) == ["DamagedTrace", "Trace"]
        damaged = next(record for record in records if isinstance(record, DamagedTrace))
        assert damaged.reason == "the record is larger than 300 bytes (raise limit `record`)"
        assert damaged.source.line == order.index(rows[0]) + 1


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            {"messages": [{"role": "user", "content": "x"}] * 4},
            "the trace has 4 messages; at most 3 are allowed (raise limit `messages`)",
        ),
        (
            {
                "messages": [
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [{"id": str(n), "name": "look"} for n in range(4)],
                    }
                ]
            },
            "the trace has 4 tool calls; at most 3 are allowed (raise limit `messages`)",
        ),
    ],
)
def test_a_trace_of_too_many_parts_is_damage_of_its_scenario_and_the_next_line_is_read(more, reason):
    damaged, other = read(line(scenario_id="a", **more) + b"\n" + line(scenario_id="b"), messages=3)
    assert (damaged.reason, damaged.scenario_id, damaged.source.line) == (reason, "a", 1)
    assert isinstance(other, Trace)
    assert all(isinstance(found, Trace) for found in read(line(scenario_id="a", **more), messages=4))


def test_a_line_of_exactly_the_limit_is_read():
    row = line(scenario_id="a")
    assert all(isinstance(record, Trace) for record in read(row + b"\r\n" + row, record_bytes=len(row)))


def test_a_document_over_the_limit_is_damage():
    for content in (line("x" * 500), json.dumps(native("x" * 500), indent=1).encode()):
        assert (
            only(read(content, record_bytes=300)).reason == "the record is larger than 300 bytes (raise limit `record`)"
        )


def test_a_gzip_bomb_is_stopped():
    bomb = gzip.compress(line() + b"\n" + b" " * 5_000_000)
    records = read(bomb, record_bytes=1000, unpacked_file_bytes=100_000)
    assert "unpacks to more than 100,000 bytes" in records[-1].reason


def test_all_files_together_have_a_separate_limit():
    contents = {f"t/{number}.json": line() for number in range(10)}
    assert len(read(contents, total_bytes=len(line()) * 10)) == 10
    with pytest.raises(OverLimit, match="in total"):
        read(contents, total_bytes=len(line()) * 10 - 1)


def test_bytes_that_are_read_twice_are_counted_once():
    content = json.dumps(native(), indent=1).encode()
    assert len(read(content, total_bytes=len(content))) == 1


def test_formats_are_named():
    names = TraceFiles(MemoryFiles({})).formats()
    assert names[0] == "native"
    assert {"tau2", "tau-bench", "openai-chat"} < set(names)
    assert len(set(names)) == len(names)
