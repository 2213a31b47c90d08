"""Traces of any format are converted to one, with the same verdicts."""

import io
import json

import orjson
import pytest
from documents import ROOT
from trace_table import RECORDINGS, read_traces

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.models.trace.trace import DamagedTrace, Trace
from evalgate.models.trace.trace_view import get_view

SHARED = ROOT.parent / "shared" / "traces"
TARGETS = [["--to", "native"], ["--to", "native", "--full"], ["--to", "otlp"]]
SUITE = """\
scenarios:
  - id: "*"
    assertions:
      - {type: max_tool_calls, max: 1}
      - {type: max_tool_errors, max: 0}
      - {path: "tool_calls[0].name", exists: true}
      - {path: "length(errors)", eq: 0}
      - {type: icontains, value: a}
      - {type: cost_limit, max_usd: 0.02}
      - {type: latency_limit, max_seconds: 5}
      - {type: token_limit, max_total: 500}
      - {type: turn_limit, max_turns: 1}
      - {path: "metadata.finish_reason", eq: stop}
"""
MESSAGES = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "name": "look", "arguments": {"at": 1}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "seen", "is_error": True, "exit_code": 3},
    {"role": "assistant", "content": "yes"},
]
SECRET = "sk-proj-" + "a1B2" * 12


def evalgate(folder, *words):
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Shell(out, err, {"SOURCE_DATE_EPOCH": "1767323045"}, str(folder)))
    return code, out.getvalue(), err.getvalue()


def convert(folder, *words):
    code, out, err = evalgate(folder, "convert", *words)
    assert code == 0, err
    return out


def native(folder, name="t.json", **fields):
    document = {"schema": "evalgate.trace/1", "scenario_id": "s", "messages": MESSAGES, **fields}
    (folder / name).write_text(json.dumps(document))


def read(folder, name):
    return list(TraceFiles(Workspace(None, str(folder))).read([name], ""))


def judged(folder, traces):
    """The verdict of a suite on each trace, without where it was read."""
    (folder / "suite.yaml").write_text(SUITE)
    code, out, err = evalgate(folder, "run", "suite.yaml", "--traces", traces, "--no-baseline-zip", "--json")
    assert code in (0, 1), err
    scenarios = json.loads(out)["suites"][0]["scenarios"]
    return {
        each["id"]: (each["verdict"], each["score"], [trial["assertions"] for trial in each["trials"]])
        for each in scenarios
    }


def without_source(trace):
    view = get_view(trace).whole()
    view["metadata"] = {**view["metadata"], "format": None}
    return {**view, "tool_definitions": trace.tool_definitions}


@pytest.mark.parametrize("target", TARGETS, ids=" ".join)
def test_traces_of_every_format_get_the_same_verdicts_after_conversion(target, tmp_path):
    before = judged(tmp_path, f"{RECORDINGS}/**/*")
    convert(tmp_path, f"{RECORDINGS}/**/*", *target, "--output", "all.jsonl")
    assert len(before) > 20
    assert judged(tmp_path, "all.jsonl") == before


@pytest.mark.parametrize("target", TARGETS, ids=" ".join)
def test_traces_of_every_format_look_the_same_after_conversion(target, tmp_path):
    convert(tmp_path, f"{RECORDINGS}/**/*", *target, "--output", "all.jsonl")
    before, after = read_traces(), read(tmp_path, "all.jsonl")
    assert {trace.source.format for trace in after} == {target[1]}
    assert any(trace.tool_definitions for trace in before)
    assert [without_source(trace) for trace in after] == [without_source(trace) for trace in before]


@pytest.mark.shared
@pytest.mark.parametrize("target", ["native", "otlp"])
def test_real_traces_look_the_same_after_conversion(target, tmp_path):
    folders = sorted(path for path in SHARED.iterdir() if path.is_dir() and path.name != "schemas")
    count = 0
    for folder in folders:
        before = [trace for trace in read_traces(folder) if isinstance(trace, Trace)]
        evalgate(tmp_path, "convert", f"{folder}/**/*", "--to", target, "--no-redact", "-o", "out.jsonl")
        after = read(tmp_path, "out.jsonl") if before else []
        assert [without_source(each) for each in after] == [without_source(each) for each in before], folder
        count += len(after)
    assert count > 500


def test_the_short_form_is_one_a_person_would_write(tmp_path):
    native(tmp_path, cost_usd=0.01, latency_seconds=1.5, scores={"reward": 1.0}, tags={"k": "v"})
    document = json.loads(convert(tmp_path, "t.json"))
    assert document == {
        "schema": "evalgate.trace/1",
        "trace_id": document["trace_id"],
        "scenario_id": "s",
        "tags": ["k:v"],
        "messages": MESSAGES,
        "cost_usd": 0.01,
        "latency_seconds": 1.5,
        "scores": {"reward": 1.0},
    }
    assert "tool_calls" in json.loads(convert(tmp_path, "t.json", "--full"))


def test_other_tools_see_ordinary_spans(tmp_path):
    """Without the embedded trace, the spans alone hold the conversation, the calls and the tokens."""
    native(tmp_path, model="m", provider="p", usage={"input_tokens": 90, "output_tokens": 8})
    spans = json.loads(convert(tmp_path, "t.json", "--to", "otlp"))
    for span in spans["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["attributes"] = [each for each in span["attributes"] if each["key"] != "evalgate.trace"]
    (tmp_path / "bare.json").write_text(json.dumps(spans))
    (bare,) = read(tmp_path, "bare.json")
    (before,) = read(tmp_path, "t.json")
    shown = [[(m["role"], m["content"], m["tool_calls"]) for m in trace.messages] for trace in (bare, before)]
    assert shown[0] == shown[1]
    (call,) = bare.tool_calls
    assert (call["name"], call["arguments"], call["result"], call["status"]) == (
        "look",
        {"at": 1},
        "seen",
        "error",
    )
    assert (bare.scenario_id, bare.model, bare.provider, bare.usage["total_tokens"]) == ("s", "m", "p", 98)


@pytest.mark.parametrize(
    "whole", [{"intValue": "3"}, {"stringValue": "no"}, {"stringValue": "{}"}, {"stringValue": "[" * 99}]
)
def test_a_trace_that_a_span_carries_damaged_is_refused_by_its_field(whole, tmp_path):
    native(tmp_path)
    spans = json.loads(convert(tmp_path, "t.json", "--to", "otlp"))
    root = spans["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    root["attributes"][-1] = {"key": "evalgate.trace", "value": whole}
    (tmp_path / "bad.json").write_text(json.dumps(spans))
    (record,) = read(tmp_path, "bad.json")
    assert isinstance(record, DamagedTrace)
    assert record.reason.startswith("evalgate.trace ")


def test_unreadable_traces_are_reported_and_the_others_are_written(tmp_path):
    native(tmp_path)
    (tmp_path / "u.json").write_text('{"schema": "evalgate.trace/1", "messages": 3}')
    code, out, err = evalgate(tmp_path, "convert", "*.json")
    assert (code, len(out.splitlines())) == (2, 1)
    assert err == "error: u.json: messages is not a list\n"


def test_secrets_are_redacted_unless_they_are_requested(tmp_path):
    native(tmp_path, metadata={"note": f"key {SECRET}", "password": "hunter2"})
    for target in ("native", "otlp"):
        out = convert(tmp_path, "t.json", "--to", target)
        assert SECRET not in out
        assert "hunter2" not in out
    assert SECRET in convert(tmp_path, "t.json", "--no-redact")


def test_a_file_may_be_converted_in_place(tmp_path):
    native(tmp_path)
    (before,) = read(tmp_path, "t.json")
    convert(tmp_path, "t.json", "--to", "otlp", "-o", "t.json")
    (after,) = read(tmp_path, "t.json")
    assert (after.messages, after.source.format) == (before.messages, "otlp")
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.json"], "no trace file at 'nothing.json'"),
        (["t.json", "--to", "otlp", "--full"], "--full applies to native traces only"),
        (["t.json", "--to", "xml"], "invalid choice"),
        (["t.json", "-o", "no/such/folder/x"], "can't write no/such/folder/x"),
        (["t.json", "--format", "tau3"], "did you mean tau2?"),
    ],
)
def test_wrong_use_is_one_line_and_leaves_nothing(words, message, tmp_path):
    native(tmp_path)
    code, out, err = evalgate(tmp_path, "convert", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def test_on_a_terminal_no_character_is_hidden_and_none_is_lost(tmp_path):
    native(tmp_path, metadata={"note": "a\u202eb\x7f"})
    out = convert(tmp_path, "t.json")
    assert "\u202e" not in out
    assert orjson.loads(out)["metadata"]["note"] == "a\u202eb\x7f"
