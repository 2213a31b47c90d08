"""Batches of any size hold the same records as reading in one go."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import span_containers
from hypothesis import given
from hypothesis import strategies as some

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.core.format import TraceLimits
from evalgate.adapters.formats.open.batches import BatchedTraces

SMALL = TraceLimits(record_bytes=400)


def native(words, scenario="a", **fields):
    messages = [{"role": "user", "content": words}]
    return json.dumps({"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages, **fields})


LINES = some.one_of(
    some.builds(native, some.text(max_size=40), latency_seconds=some.sampled_from([1.5, 1.5, 2.5])),
    some.just(native("long " * 100)),
    some.sampled_from(["", "  ", "{", "[]", '"x"', native("x")[:-1] + ', "trace_id": "t", "trace_id": "u"}']),
)
FILES = some.lists(
    some.tuples(some.lists(LINES, max_size=25), some.sampled_from(["\n", "\r\n"]), some.booleans()),
    max_size=3,
)


def summarize_records(records):
    """The relevant fields of records, in order."""
    return [
        (each.source, each.scenario_id, getattr(each, "reason", None), getattr(each, "warnings", None))
        for each in records
    ]


def in_batches(source, patterns, size):
    parts, records = [], []
    files = source.find_files(patterns, ".")
    for batch in source.batches(files, "auto", size):
        opened = source.open_batch(batch, "auto")
        records += opened
        parts += opened.parts
        assert source.find_parts(batch, "auto") == opened.parts or batch.line_range is not None
    for batch in source.group_parts(parts, size):
        records += source.open_batch(batch, "auto")
    return records


@given(files=FILES, size=some.integers(1, 3_000))
def test_batches_of_any_size_hold_what_the_files_hold(files, size):
    with TemporaryDirectory() as folder:
        for number, (lines, end, is_ended) in enumerate(files):
            content = end.join(lines) + (end if is_ended else "")
            (Path(folder) / f"{number}.jsonl").write_text(content, newline="")
        source = BatchedTraces(Workspace(None, folder), SMALL)
        whole = summarize_records(source.read(["*.jsonl"], "."))
        assert summarize_records(in_batches(source, ["*.jsonl"], size)) == whole


def test_packed_lines_and_files_that_form_one_trace_together_are_read_unchanged(tmp_path):
    lines = "\n".join(native(f"{number}") for number in range(20))
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    for number, row in enumerate(span_containers.rows()):
        span = span_containers.otlp_span(row)
        (tmp_path / f"span-{number}.json").write_text(json.dumps(span_containers.envelope(span)))
    source = BatchedTraces(Workspace(None, str(tmp_path)))
    whole = summarize_records(source.read(["*"], "."))
    assert len(whole) == 21
    for size in (1, 500, 10**6):
        assert summarize_records(in_batches(source, ["*"], size)) == whole


def test_bytes_of_a_batch_are_counted_once_and_unpacked(tmp_path):
    content = "\n".join(native(f"{number}") for number in range(20)).encode()
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(content))
    source = BatchedTraces(Workspace(None, str(tmp_path)))
    (batch,) = source.batches(source.find_files(["*"], "."), "auto", 10**6)
    opened = source.open_batch(batch, "auto")
    assert len(list(opened)) == 20
    assert opened.size == len(content)
