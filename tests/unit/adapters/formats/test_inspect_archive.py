from __future__ import annotations

import io
import json
import struct
import zipfile

import pytest
from fakes.files import MemoryFiles

from evalgate.adapters.formats.core.format import TraceLimits
from evalgate.adapters.formats.inspect_ai import INSPECT
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import DamagedTrace

HEADER = {"version": 2, "status": "success", "eval": {"task": "finding", "model": "acme/large"}}


def sample(name, epoch=1, words="Hello"):
    return {"id": name, "epoch": epoch, "messages": [{"role": "assistant", "content": words}]}


def member(name, epoch=1, **fields):
    return f"samples/{name}_epoch_{epoch}.json", sample(name, epoch, **fields)


def archive(*members, start=("_journal/start.json", HEADER), header=("header.json", HEADER)):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for entry in (start, *members, header):
            if entry is not None:
                name, value = entry
                packed.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return buffer.getvalue()


def read(content, form="auto", **limits):
    return list(TraceFiles(MemoryFiles({"t/a.eval": content}), TraceLimits(**limits)).read(["t"], "", form))


def reason(content, **limits):
    (record,) = read(content, **limits)
    assert isinstance(record, DamagedTrace)
    return record.reason


def test_samples_come_in_the_order_of_their_ids():
    found = read(archive(member("10"), member("b"), member("9", 2), member("9"), ("summaries.json", [])))
    assert [(trace.scenario_id, trace.trial) for trace in found] == [("9", 1), ("9", 2), ("10", 1), ("b", 1)]
    assert [trace.source.record for trace in found] == [0, 1, 2, 3]
    assert {trace.source.format for trace in found} == {"inspect"}
    assert found[0].metadata["task"] == "finding"


def test_an_archive_is_known_by_its_first_entry():
    assert INSPECT.magic is not None
    assert INSPECT.magic(archive()[:512])
    assert not INSPECT.magic(archive(start=("other.json", {}))[:512])
    assert not INSPECT.magic(b"{}")
    assert "zip archive of an unknown format" in reason(archive(start=("other.json", {})))


def test_a_run_under_way_is_read_by_its_journal():
    (trace,) = read(archive(member("a"), header=None), form="inspect")
    assert (trace.scenario_id, trace.metadata["task"]) == ("a", "finding")


def test_a_damaged_sample_leaves_the_others():
    records = read(archive(member("a"), ("samples/b_epoch_3.json", b'{"id": '), member("c")))
    broken = records[1]
    assert isinstance(broken, DamagedTrace)
    assert (broken.scenario_id, broken.trial, broken.source.record) == ("b", 3, 1)
    assert broken.reason.startswith("the JSON ends unexpectedly")
    assert [records[0].scenario_id, records[2].scenario_id] == ["a", "c"]


def test_damaged_bytes_are_reported_by_member():
    content = archive(member("a", words="x" * 400))
    place = content.index(b"samples/a_epoch_1.json") + len("samples/a_epoch_1.json") + 4
    (record,) = read(content[:place] + b"\0\0\0\0" + content[place + 4 :])
    assert isinstance(record, DamagedTrace)
    assert record.reason == "the archive: samples/a_epoch_1.json in it is damaged"
    assert record.scenario_id == "a"


def test_a_header_that_is_not_json_is_refused():
    assert reason(archive(member("a"), header=("header.json", b"{"))).startswith("the JSON ends unexpectedly")


def test_an_archive_without_settings_is_refused():
    first = ("summaries.json", [])
    assert "it has no entries called _journal/start.json" in reason(archive(member("a"), start=first, header=None))


def test_an_archive_without_samples_is_refused():
    assert reason(archive()) == "the log has no samples"


def test_half_an_archive_is_refused():
    assert reason(archive(member("a"))[:200]) == "the archive: it is not a zip file, or it is damaged"


def test_samples_in_chunks_are_refused_with_what_to_do():
    content = archive(("samples/a_epoch_1/sample.json", {}), ("samples/a_epoch_1/messages/0.json", []))
    assert reason(content).endswith("convert it to JSON with `inspect log dump` and pass that")


def test_zstandard_is_refused_with_what_to_do():
    content = archive(member("a"))
    known = struct.pack("<H", zipfile.ZIP_DEFLATED)
    entry = content.rindex(b"PK\x01\x02") + 10
    assert content[entry : entry + 2] == known
    content = content[:entry] + struct.pack("<H", 93) + content[entry + 2 :]
    assert reason(content) == (
        "the archive is compressed with Zstandard, which is not supported: "
        "convert it to JSON with `inspect log dump` and pass that"
    )


def test_a_sample_larger_than_a_record_may_be_is_refused_alone():
    one, other = read(archive(member("a", words="x" * 5000), member("b")), record_bytes=3000)
    assert isinstance(one, DamagedTrace)
    assert one.reason == "the archive: samples/a_epoch_1.json in it is larger than 3,000 bytes"
    assert other.scenario_id == "b"


def test_an_archive_that_unpacks_beyond_the_limit_is_refused():
    *read_ones, last = read(archive(*(member(str(n), words="x" * 2000) for n in range(5))), unpacked_file_bytes=7000)
    assert [trace.scenario_id for trace in read_ones[:2]] == ["0", "1"]
    assert isinstance(last, DamagedTrace)
    assert last.reason == "the archive: samples/4_epoch_1.json in it is too large"


def test_two_samples_of_one_name_are_refused():
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = archive(member("a"), member("a", words="Bye"))
    (record,) = read(content)
    assert isinstance(record, DamagedTrace)
    assert record.reason == "the archive: it has 2 entries called samples/a_epoch_1.json"


def test_a_long_name_is_shown_in_part():
    name = "a" * 400
    one, _ = read(archive((f"samples/{name}_epoch_1.json", b"x" * 5000), member("b")), record_bytes=3000)
    assert isinstance(one, DamagedTrace)
    assert len(one.reason) < 230
    assert one.reason.endswith("_epoch_1.json in it is larger than 3,000 bytes")


def test_an_archive_with_too_many_entries_is_refused():
    content = archive(member("a")) + b"PK\x01\x02" * 40_001
    assert reason(content) == "the archive: it has more than 20,000 entries"
