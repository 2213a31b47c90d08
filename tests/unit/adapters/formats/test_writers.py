"""Every readable trace can be written and read again, and is the same."""

import json

import pytest
from damage import damage_document
from fakes.files import MemoryFiles
from hypothesis import given
from outage_recordings import OUTAGES
from trace_table import RECORDINGS

from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.adapters.formats.writers import convert_traces, get_writer, redact_trace
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace
from evalgate.scoring.outage import find_outage

REFUND = json.loads((RECORDINGS / "native" / "refund.json").read_bytes())
WRITERS = [("native", False), ("native", True), ("otlp", False)]
UNSUNG = {"role": "assistant", "content": None, "tool_calls": [{"name": "look", "arguments": "{broken"}]}


def read(content):
    return list(TraceFiles(MemoryFiles({"t.json": content})).read(["t.json"], ""))


def written(document, target, full, *, redact=False):
    return list(convert_traces(read(json.dumps(document).encode()), get_writer(target, full=full), redact=redact))


def again(document, target, full):
    """The trace of a document, and the trace read back after writing; None twice if it is unreadable."""
    (before,) = read(json.dumps(document).encode())
    if not isinstance(before, Trace):
        return None, None
    (line,) = convert_traces([before], get_writer(target, full=full), redact=False)
    (after,) = read(line)
    assert isinstance(after, Trace), after.reason
    after.source, after.record = before.source, before.record
    return before, after


@pytest.mark.parametrize(("target", "full"), WRITERS)
@given(damage_document(REFUND))
def test_any_readable_native_trace_is_the_same_after_writing(target, full, document):
    before, after = again(document, target, full)
    assert before == after


@pytest.mark.parametrize(("target", "full"), WRITERS)
@pytest.mark.parametrize(
    "fields",
    [
        {"messages": []},
        {"messages": [UNSUNG]},
        {"messages": [UNSUNG, {"role": "tool", "tool_call_id": "unknown", "content": "lost"}]},
        {"agent": {"name": 5, "version": None}, "tool_definitions": [{"name": "x", "parameters": None}]},
        {"messages": [{"role": "user", "content": "hi", "turn": 7}], "started_at": "0001-01-01T00:00:00Z"},
        {"usage": {"input_tokens": 5, "source": "agent_span"}, "cost": {"usd": 0.5, "source": "computed"}},
        {"evaluations": [{"name": "a", "score_value": 1}, {"name": "a", "score_value": 0}]},
        {"cost": {"source": "partial", "known_usd": 0.1, "note": "why", "price_table": "p 1"}},
    ],
)
def test_fields_that_the_short_form_lacks_are_not_lost(fields, target, full):
    before, after = again({**REFUND, "cost_usd": None, "scores": None, **fields}, target, full)
    assert before is not None
    assert before == after


def test_spans_without_known_times_follow_each_other():
    (line,) = written({"schema": REFUND["schema"], "messages": REFUND["messages"]}, "otlp", full=False)
    spans = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    starts = [int(span["startTimeUnixNano"]) for span in spans]
    assert starts == sorted(set(starts))
    assert int(spans[0]["endTimeUnixNano"]) >= starts[-1]
    assert len({span["spanId"] for span in spans}) == len(spans)
    assert {span["traceId"] for span in spans} == {spans[0]["traceId"]}


def test_a_trace_that_redaction_breaks_is_reported_and_not_written():
    (trace,) = read(json.dumps(REFUND).encode())
    trace.messages[0]["role"] = "robot"
    with pytest.raises(TraceError):
        redact_trace(trace)
    (refused,) = convert_traces([trace], get_writer("native"), redact=True)
    assert refused.reason.startswith("it can't be written: messages[0].role")


@pytest.mark.parametrize(("target", "full"), WRITERS)
@pytest.mark.parametrize("kind", OUTAGES)
def test_outage_is_one_after_writing_too(target, full, kind):
    (before,) = read(OUTAGES[kind].encode())
    (line,) = convert_traces([before], get_writer(target, full=full), redact=False)
    (after,) = read(line)
    assert isinstance(after, Trace), after.reason
    assert find_outage(after) == find_outage(before) is not None
