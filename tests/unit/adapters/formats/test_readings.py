"""What each format's reader makes of documents: every case of `tests/readings`, and every file of `tests/recordings`.

`EVALGATE_REFRESH=1` writes what is read now, to be read before it is committed.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from readings import READINGS, describe, load_cases, read_documents, write_cases
from trace_table import RECORDINGS, read_traces

RECORDED = READINGS / "recordings.jsonl"
FILES = sorted(path for path in READINGS.glob("*.jsonl") if path != RECORDED)
CASES = [(path, number, case) for path in FILES for number, case in enumerate(load_cases(path))]


@pytest.mark.parametrize(("path", "number", "case"), CASES, ids=[f"{p.stem}: {case['case']}" for p, _, case in CASES])
def test_documents_are_read_as_expected(path, number, case):
    found = read_documents(path.stem, case["documents"])
    _refresh(path, number, found)
    assert found == case["read"]


def test_recordings_are_read_as_expected():
    found: dict[str, list[Any]] = {}
    for trace in read_traces():
        found.setdefault(trace.source.path, []).append(describe(trace))
    cases = [{"recording": path, "read": read} for path, read in found.items()]
    if os.environ.get("EVALGATE_REFRESH"):
        write_cases(RECORDED, cases)
    assert cases == load_cases(RECORDED)
    assert {path.split("/")[0] for path in found} == {path.name for path in RECORDINGS.iterdir()}


def _refresh(path, number, found):
    if os.environ.get("EVALGATE_REFRESH"):
        cases = load_cases(path)
        cases[number]["read"] = found
        write_cases(path, cases)
