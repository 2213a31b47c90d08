"""The state that a run left behind, in native traces and in spans: read, written, and refused where it is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from in_process_command import evalgate
from span_builders import weather_run

from evalgate.adapters.formats.native import reader
from evalgate.adapters.formats.open.stored_traces import encode_stored_trace, read_stored_trace
from evalgate.adapters.formats.spans.span_records import AgentRun
from evalgate.adapters.formats.spans.span_records import build as build_run
from evalgate.adapters.formats.writers.native import to_short_form
from evalgate.errors import TraceError
from evalgate.models.trace.trace_document import encode_trace
from evalgate.scoring.outage import find_outage

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.models.trace.trace import Trace

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


def build_spans(*states: Any) -> Trace:
    """The trace of a run whose first spans have these states."""
    spans = weather_run()
    for span, state in zip(spans, states, strict=False):
        span.attributes["evalgate.state"] = state
    return build_run(AgentRun(spans))


def test_a_span_holds_the_state_in_one_attribute() -> None:
    assert build_spans().state is None
    for states in ([json.dumps(STATE)], [STATE], [json.dumps(STATE)] * 2):
        trace = build_spans(*states)
        assert trace.state == STATE
        assert (trace.warnings, trace.gaps, len(trace.tool_calls)) == ([], {}, 1)


def test_records_that_look_like_calls_are_none_in_a_state() -> None:
    rows = {"after": {"tool_calls": [{"name": "refund", "arguments": {"id": 1}}]}}
    trace = build_spans(json.dumps(rows))
    assert trace.state == rows
    assert (trace.gaps, len(trace.tool_calls)) == ({}, 1)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (["{"], "evalgate.state "),
        (["[]"], "evalgate.state is not an object"),
        ([3], "evalgate.state is not an object"),
        (["{}", '{"after": 1}'], "evalgate.state differs between spans of one run"),
        (['{"files": {"a": {"change": "moved"}}}'], "evalgate.state.files.a.change is not one of"),
        (['{"after": ' + "[" * 99 + "]" * 99 + "}"], "evalgate.state "),
        (['{"after": "\ud800"}'], "evalgate.state is not text"),
    ],
)
def test_a_damaged_state_of_a_span_makes_the_trace_an_error(states: list[Any], message: str) -> None:
    with pytest.raises(TraceError, match=f"^{message}"):
        build_spans(*states)


SAID = {"messages": [{"role": "user", "content": "Refund A7."}, {"role": "assistant", "content": "Done."}]}
SUITE = """\
version: 1
scenarios:
  - id: refund
    assertions:
      - {type: files_changed, never: [".github/**"], required: true}
      - {type: state, path: orders.A7, eq: refunded, required: true}
"""


@pytest.mark.parametrize(("path", "code"), [(".github/ci.yml", 1), ("out/letter.txt", 0)])
def test_required_checks_judge_the_state_of_a_span(tmp_path: Path, path: str, code: int) -> None:
    (tmp_path / "native.json").write_text(
        json.dumps(document(None) | {"scenario_id": "refund", "model": "m"} | SAID), encoding="utf-8"
    )
    spans = json.loads(evalgate("convert", "native.json", "--to", "otlp", cwd=str(tmp_path)).out)
    attributes = spans["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"]
    attributes[:] = [each for each in attributes if each["key"] != "evalgate.trace"]
    state = {"after": {"orders": {"A7": "refunded"}}, "files": {path: {"change": "added"}}}
    attributes.append({"key": "evalgate.state", "value": {"stringValue": json.dumps(state)}})
    (tmp_path / "spans.json").write_text(json.dumps(spans), encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    done = evalgate("run", "suite.yaml", "--traces", "spans.json", cwd=str(tmp_path))
    assert done.exit_code == code, done.out + done.err
    assert (path in done.out) == bool(code)
