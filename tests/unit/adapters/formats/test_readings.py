"""What each format's reader makes of documents: every case of `tests/readings`, and every file of `tests/recordings`.

`EVALGATE_REFRESH=1` writes what is read now, to be read before it is committed.
"""

from __future__ import annotations

import os
from copy import deepcopy
from typing import Any

import pytest
from damage import ANYTHING, apply_changes, damage_document, nest_lists, places
from hypothesis import given
from hypothesis import strategies as st
from readings import READINGS, describe, load_cases, read_documents, write_cases
from trace_table import RECORDINGS, read_traces

from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError

RECORDED = READINGS / "recordings.jsonl"
FILES = sorted(path for path in READINGS.glob("*.jsonl") if path != RECORDED)
LIST_KEYS = ("messages", "events", "items", "steps", "output", "data", "spans", "history", "loglines", "contents")
READS_PARTS = frozenset({"openai-chat", "native"})
SHALLOW = 5
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@given(data=st.data())
def test_damaged_documents_are_a_trace_or_a_reason(path, data):
    documents = data.draw(st.sampled_from([case["documents"] for one, _, case in CASES if one == path]))
    read_damaged(path.stem, data.draw(damage_document(documents)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("instead", [[], {}])
def test_any_field_may_hold_a_list_or_an_object(path, instead):
    documents = next(case["documents"] for one, _, case in CASES if one == path)
    for place in filter(None, places(documents)):
        read_damaged(path.stem, apply_changes(documents, [(place, (instead,))]))


def read_damaged(form, documents):
    known = detect.find_format(form)
    documents = documents if known.joins_lines else documents[:1]
    if not documents or not any(known.claims(document) for document in documents):
        return
    try:
        records = known.reader.split(documents if known.joins_lines else documents[0])
    except TraceError:
        return
    for record in records:
        known.reader.identify(record)
        try:
            known.reader.build(record)
        except TraceError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 400


@given(ANYTHING)
def test_any_json_is_claimed_or_not(value):
    for document in (value, [value], *({key: inner} for key in LIST_KEYS for inner in (value, [value]))):
        assert {known.claims(document) for known in detect.FORMATS} <= {True, False}


@pytest.mark.parametrize("path", [path for path in FILES if path.stem not in READS_PARTS], ids=lambda path: path.stem)
def test_documents_with_too_many_levels_are_refused(path):
    """Wherever they are: readers of other formats read only some fields, and check those."""
    case = next(case for one, _, case in CASES if one == path and "refused" not in case["read"][0])
    documents = deepcopy(case["documents"])
    for place in [place for place in places(documents) if len(place) < SHALLOW]:
        node = documents
        for key in place:
            node = node[key]
        if isinstance(node, dict):
            node["deep"] = nest_lists(70)
    assert any("64 levels" in read.get("refused", "") for read in read_documents(path.stem, documents))


def _refresh(path, number, found):
    if os.environ.get("EVALGATE_REFRESH"):
        cases = load_cases(path)
        cases[number]["read"] = found
        write_cases(path, cases)
