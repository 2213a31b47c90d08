from __future__ import annotations

import orjson
import pytest
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.response_cache import RESPONSE_CACHE
from evalgate.adapters.formats.response_cache import reader as response_cache
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "response-cache"
DOCUMENT = orjson.loads((FOLDER / "grouped" / "remove-ada.json").read_bytes())


def read(document, path="cache/grouped/standup_daily.json"):
    return read_record(RESPONSE_CACHE.reader, document, TraceLocation(path), "grouped/standup_daily.json")


def test_a_cached_response_is_read():
    (trace,) = read_traces(FOLDER)
    assert [(c["name"], c["arguments"], c["id"], c["status"]) for c in trace.tool_calls] == [
        ("find_user", {"name": "Ada"}, "call_1", "missing"),
        ("delete_user", {"id": 7, "at": "2026-09-22T09:00:00Z"}, None, "missing"),
    ]
    assert trace.response["content"] == "I remove Ada tomorrow."
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"], trace.usage["total_tokens"]) == (210, 34, 244)
    assert (trace.scenario_id, trace.metadata, trace.tags) == (
        "remove-ada",
        {"variant": "grouped"},
        ["grouped"],
    )
    assert trace.gaps.keys() == {"messages"}


@pytest.mark.parametrize(
    ("path", "scenario", "variant"),
    [
        ("tests/eval/cache/flat/a.b.json", "a.b", "flat"),
        ("flat/x.json.gz", "x", "flat"),
        ("x.json", "x", None),
        ("../x.json", "x", None),
    ],
)
def test_the_path_names_scenario_and_variant(path, scenario, variant):
    trace = read(DOCUMENT, path)
    assert (trace.scenario_id, trace.metadata.get("variant")) == (scenario, variant)
    damaged = read({**DOCUMENT, "content": 5}, path)
    assert isinstance(damaged, DamagedTrace)
    assert damaged.scenario_id == scenario


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (DOCUMENT, "response-cache"),
        ({**DOCUMENT, "tool_calls": None}, "response-cache"),
        ({"messages": [{"role": "assistant", "content": "x"}], **DOCUMENT}, "openai-chat"),
    ],
)
def test_cached_responses_are_detected(document, name):
    assert detect.detect_format([document]).name == name


@pytest.mark.parametrize(
    "missing", [{"usage_metadata": None}, {"usage_metadata": {}}, {"content": ""}, {"tool_calls": []}]
)
def test_what_is_missing_is_unknown(missing):
    trace = read({**DOCUMENT, **missing})
    assert (trace.usage["total_tokens"] is None) == ("usage_metadata" in missing)
    assert len(trace.tool_calls) == (0 if "tool_calls" in missing else 2)


@pytest.mark.parametrize(
    "extra",
    [
        {"toolCalls": [{"name": "delete_all", "args": {}}]},
        {"steps": [["delete_all"]]},
        {"content": [{"type": "odd", "value": 1}]},
        {"content": [{"type": "tool_use", "name": "delete_all", "input": {}}]},
    ],
)
def test_a_call_elsewhere_is_not_lost(extra):
    found = read({**DOCUMENT, **extra})
    if isinstance(found, DamagedTrace):
        assert "delete_all" in found.reason
    else:
        assert "calls" in found.gaps or "delete_all" in [call["name"] for call in found.tool_calls]


def test_an_unnamed_call_is_an_error():
    found = read({**DOCUMENT, "tool_calls": [{"args": {}}]})
    assert "tool_calls[0].name is missing" in found.reason
    assert response_cache.read_path("a/.json") == (None, "a")
