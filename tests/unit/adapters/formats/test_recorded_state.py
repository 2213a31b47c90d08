"""The state that a run left behind, in native traces: read, written, and refused where it is none."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from evalgate.adapters.formats.native import reader
from evalgate.adapters.formats.open.stored_traces import encode_stored_trace, read_stored_trace
from evalgate.adapters.formats.writers.native import to_short_form
from evalgate.errors import TraceError
from evalgate.models.trace.trace_document import encode_trace
from evalgate.scoring.outage import find_outage

STATE: dict[str, Any] = {
    "before": {"orders": {"A7": {"status": "paid", "note": None}}},
    "after": None,
    "diff": [{"op": "replace", "path": "", "value": None}, {"op": "remove", "path": "/a~1b"}],
    "files": {
        "a.txt": {"change": "added", "sha256": "ab", "bytes": 3, "text": "abc", "diff": "+abc"},
        "link": {"kind": "link", "was": "cd"},
    },
}


def document(state: Any) -> dict[str, Any]:
    return {
        "schema": "evalgate.trace/1",
        "trace_id": "t",
        "messages": [{"role": "user", "content": "a"}],
        "state": state,
    }


def test_the_state_is_the_same_after_each_way_of_writing_it() -> None:
    trace = reader.build(document(STATE))
    assert trace.state == STATE
    assert trace.warnings == []
    for written in (encode_trace(trace), to_short_form(trace)):
        assert reader.build(orjson.loads(orjson.dumps(written))).state == STATE
    assert read_stored_trace(encode_stored_trace(trace)).state == STATE


def test_a_stored_state_holds_no_secret() -> None:
    token = "ghp_" + "a1B2" * 9
    trace = reader.build(document({**STATE, "after": {"note": token}, "files": {token: {"text": token}}}))
    assert token.encode() not in encode_stored_trace(trace)


def test_without_a_state_there_is_none() -> None:
    assert reader.build(document(None)).state is None
    assert reader.build(document({})).state == {}
    assert "state" not in encode_trace(reader.build(document(None)))


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ([], "state is not an object"),
        ({"diff": {}}, "state.diff is not a list"),
        ({"diff": [1]}, "state.diff[0] is not an object"),
        ({"diff": [{"op": "test", "path": ""}]}, "state.diff[0].op is not one of add, remove, replace"),
        ({"diff": [{"op": "add", "path": "a"}]}, "state.diff[0].path is no JSON pointer"),
        ({"diff": [{"op": "add"}]}, "state.diff[0].path is no JSON pointer"),
        ({"files": []}, "state.files is not an object"),
        ({"files": {"a": 1}}, "state.files.a is not an object"),
        ({"files": {"a": {"change": "moved"}}}, "state.files.a.change is not one of"),
        ({"files": {"a": {"bytes": -1}}}, "state.files.a.bytes"),
        ({"outage": ""}, "state.outage is empty"),
    ],
)
def test_a_damaged_state_makes_the_trace_an_error(state: Any, message: str) -> None:
    with pytest.raises(TraceError, match=message.replace("[", "\\[").replace("]", "\\]")):
        reader.build(document(state))


def test_a_field_that_a_state_does_not_have_is_named() -> None:
    (warning,) = reader.build(document({"befor": 1})).warnings
    assert warning["message"] == "the field `befor` is unknown; did you mean `before`?"


def test_a_state_that_could_not_be_recorded_leaves_the_trial_unmeasured() -> None:
    trace = reader.build(document({"outage": "the state command after the run ended with exit code 1"}))
    assert find_outage(trace) == "the state was not recorded: the state command after the run ended with exit code 1"
