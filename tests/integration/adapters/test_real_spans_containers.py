"""Spans of other projects: the content of their containers, counted independently of the readers."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.core.format import TraceLimits
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.adapters.formats.spans import dialects
from evalgate.adapters.formats.spans.encodings import jaeger, otlp, span_objects
from evalgate.adapters.formats.spans.span import SpanFile
from evalgate.adapters.formats.spans.span_records import add_logs, group_runs, has_agent_activity, merge_duplicates
from evalgate.models.trace.trace import DamagedTrace, Trace

SHARED = Path(__file__).resolve().parents[4] / "shared" / "traces"
pytestmark = [
    pytest.mark.shared,
]
READ = {"otlp": otlp.read_spans, "jaeger": jaeger.read_spans, "span-list": span_objects.read_spans}
FOLDERS = (
    *("otlp-json-replayed/*", "otlp-encodings", "otlp-json-spec-examples", "otel-spans-strands-fixtures"),
    *("tempo", "jaeger", "vercel-ai-sdk-spans"),
)
NOT_SPANS = {"codex_exec_json.json", "codex_session_rollout.json", "google_adk_load_skill.json"}
FILES = sorted(
    str(path.relative_to(SHARED))
    for folder in FOLDERS
    for path in SHARED.glob(f"{folder}/*")
    if path.name not in NOT_SPANS
)
ENCODINGS = [name for name in FILES if name.startswith("otlp-encodings/")]


def documents(name):
    data = (SHARED / name).read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    packed = detect.find_packed_format(data[:512])
    if packed is not None:
        return list(packed.reader.unpack(data, TraceLimits()))
    try:
        return [orjson.loads(data)]
    except orjson.JSONDecodeError:
        return [orjson.loads(line) for line in data.splitlines() if line.strip()]


def held(name):
    found, known = SpanFile(), documents(name)
    READ[detect.detect_format(known).name](known, found)
    return found


def read(name):
    return list(TraceFiles(Workspace(None, str(SHARED))).read([name], ""))


def counted(value, keys):
    """How many objects anywhere have one of the keys and a name: spans, in any container."""
    if isinstance(value, list):
        return sum(counted(item, keys) for item in value)
    if not isinstance(value, dict):
        return 0
    is_span = not keys.isdisjoint(value) and not {"name", "operationName"}.isdisjoint(value)
    return is_span + sum(counted(item, keys) for item in value.values())


def test_there_are_as_many_files_as_were_looked_at():
    assert len(FILES) == 42 + 6 + 2 + 10 + 3


@pytest.mark.parametrize("name", FILES)
def test_every_span_is_found_and_none_is_damaged(name):
    found = held(name)
    assert found.damaged == {}
    keys = {"spanId", "span_id", "spanID", "spanContext"}
    assert len(found.spans) == counted(documents(name), keys)


@pytest.mark.parametrize("name", FILES)
def test_times_ids_and_values_are_plain(name):
    for span in held(name).spans:
        assert span.start_ns is not None
        assert span.end_ns is not None
        assert 10**18 < span.start_ns <= span.end_ns < 2 * 10**18 or "spec-examples" in name
        assert span.span_id == span.span_id.lower()
        assert not span.span_id.endswith("=")
        wrappers = {"stringValue", "string_value", "intValue", "kvlistValue"}
        for value in span.attributes.values():
            assert not (isinstance(value, dict) and wrappers & value.keys())


@pytest.mark.parametrize(
    ("name", "traces", "spans", "orphans", "events", "failed"),
    [
        # an ingress, a controller and two agents: nine parents are in services that were not traced
        ("tempo/tempo_export_with_batches.json", 1, 86, 9, 5, 0),
        ("jaeger/helm_2.json", 1, 72, 0, 3, 1),
        ("otlp-encodings/request.pb", 2, 13, 0, 0, 0),
    ],
)
def test_figures_of_large_dumps(name, traces, spans, orphans, events, failed):
    found = held(name).spans
    ids = {span.span_id for span in found}
    lost = [span for span in found if span.parent_id is not None and span.parent_id not in ids]
    assert (len({span.trace_id for span in found}), len(found)) == (traces, spans)
    assert (len(lost), sum(len(span.events) for span in found)) == (orphans, events)
    assert sum(span.has_failed for span in found) == failed


CONTRIB = "otlp-json-replayed/contrib-openai-v2/test_chat_completions__test_chat_completion_"


@pytest.mark.parametrize(
    ("name", "logs", "spans"),
    [
        (f"{CONTRIB}multiple_choices_streaming_content_mode1", 4, 1),
        (f"{CONTRIB}tool_calls_with_content_content_mode1", 9, 2),
        (
            "otlp-json-replayed/openllmetry-openai/test_chat__test_chat_tool_calls_with_events_with_content",
            3,
            1,
        ),
    ],
)
def test_logs_in_a_separate_file_are_joined_to_their_spans(name, logs, spans):
    logged, traced = held(f"{name}.logs.jsonl"), held(f"{name}.traces.jsonl")
    assert (len(logged.logs), len(traced.spans)) == (logs, spans)
    together = add_logs(traced.spans, logged.logs)
    assert len(together) == spans
    assert sum(len(span.events) for span in together) == logs
    records = read(f"{name}.*.jsonl")
    assert [len(record.llm_calls) for record in records] == [1] * spans
    assert all(record.messages for record in records)


def test_events_without_a_trace_id_are_refused_with_the_reason():
    name = "test_messages__test_anthropic_tools_with_events_with_content.logs.jsonl"
    (found,) = read(f"otlp-json-replayed/openllmetry-anthropic/{name}")
    assert isinstance(found, DamagedTrace)
    assert found.reason == ("no span records what an agent did: 5 events without a trace id can't be assigned to a run")


def story(record):
    assert isinstance(record, Trace), record
    return (
        record.trace_id, record.messages, record.tool_calls, record.llm_calls, record.usage, record.cost,
        record.latency, record.response, record.status, record.warnings, record.agent, record.started_at,
    )  # fmt: skip


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_of_one_run_gives_the_same_traces(name):
    first, second = map(story, read("otlp-encodings/one-envelope.json"))
    assert [story(record) for record in read(name)] == [first, second]


def test_the_encodings_hold_two_runs_of_agents():
    records = read("otlp-encodings/one-envelope.json")
    assert [record.trace_id[:8] for record in records] == ["29e33343", "2c3d33dd"]
    assert [len(group) for group in group_runs(held("otlp-encodings/one-envelope.json").spans)] == [8, 5]


def test_all_encodings_together_are_still_two_traces():
    assert len(read("otlp-encodings/*")) == 2


@pytest.mark.parametrize("name", FILES)
def test_no_span_of_an_agent_is_taken_for_noise(name):
    found = held(name)
    for group in group_runs(add_logs(merge_duplicates(found.spans)[0], found.logs)):
        kinds = {dialects.read_facts(span).kind for span in group}
        assert has_agent_activity(group) or kinds == {"other"}


def test_spans_without_an_agent_are_refused():
    (found,) = read("otlp-json-spec-examples/trace.json")
    assert isinstance(found, DamagedTrace)
    assert found.reason == ("no span records what an agent did: 1 span of 1 trace, such as `I'm a server span`")
    (found,) = read("otlp-json-spec-examples/logs.json")
    assert isinstance(found, DamagedTrace)
    assert found.reason == "it contains no trace"
