"""A call in a field that recorders may add freely is not dropped, and what is no call there stops no gate."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from evalgate.models.trace.trace import Trace
from hostile.recorded_calls import read
from hostile.unknown_parts import RECORDINGS, load

ACTS: dict[str, Any] = {
    "a word of doing": [{"do": "erase_all", "with": {"id": 1}}],
    "a word of what was done": [{"executed": "erase_all", "with": {"id": 1}}],
    "at any depth": {"audit": {"entries": [{"n": 1}, {"exec": "erase_all", "on": [7]}]}},
    "in JSON as text": json.dumps([{"operation": "erase_all", "payload": {"id": 1}}]),
    "by its type": {"type": "tool_event", "what": "erase_all", "how": {"id": 1}},
    "JSON as text beside the name": {"command": "erase_all", "body": '{"id": 1}'},
}
HARMLESS: dict[str, Any] = {
    "a person": {"name": "Ann", "address": {"city": "Bern"}, "roles": ["admin"]},
    "a run of a pipeline": {"run": "nightly", "config": {"seed": 1}, "steps": [{"step": "load", "took": {"s": 1}}]},
    "an answer": {"response": "fine", "usage": {"in": 2}, "output": "ok", "choices": [{"index": 0}]},
    "numbers and texts": {"action": "delete_user", "count": 3, "operations": 7},
    "a sentence": {"action": "I delete the user.", "details": {"id": 1}},
    "a patch": [{"op": "replace", "path": "/status", "value": {"open": False}}],
    "ids": {"tool_call_id": "c1", "function_id": "f1", "args": {"x": 1}},
    "texts": ["refunds", "de", "delete_user"],
}
GOOD = {
    "openai-chat": {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "done"}]},
    "native": {
        "schema": "evalgate.trace/1",
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "done"}],
    },
}
TOPS = ["adk", "anthropic", "atif", "claude-code", "codex", "mini-swe-agent", "openhands", "pi", "salvo", "tau-bench"]


def _read(document: Any) -> Trace:
    (found,) = read(json.dumps(document).encode())
    assert isinstance(found, Trace), found
    return found


@pytest.mark.parametrize("name", GOOD)
def test_a_result_beside_the_messages_with_the_name_and_arguments_of_no_recorded_call_is_not_dropped(name):
    entry = {"name": "erase_all", "arguments": {"id": 1}, "output": "ok"}
    assert "erase_all" in _read({**GOOD[name], "tool_results": [entry]}).gaps["calls"]
    for harmless in ({"tool_call_id": "c1", "output": "ok"}, {"name": "Ann", "input": None}, {"name": "erase_all"}):
        assert _read({**GOOD[name], "tool_results": [harmless]}).gaps == {}


def _load_spans(place: str, value: Any) -> list[Any]:
    (document,) = load((RECORDINGS / "otlp/spans.json").read_bytes())
    resource = document["resourceSpans"][0]
    spans = resource["scopeSpans"][0]["spans"]
    entry = {"key": "app.ledger", "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
    if place == "resource":
        resource.setdefault("resource", {}).setdefault("attributes", []).append(entry)
    elif place == "event":
        spans[0].setdefault("events", []).append({"name": "x", "timeUnixNano": "1", "attributes": [entry]})
    else:
        (span,) = [each for each in spans if each["name"].startswith(place)][:1]
        span["attributes"].append(entry)
    return document


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("form", GOOD)
def test_what_was_done_beside_a_conversation_makes_the_calls_incomplete(form, name):
    found = _read({**GOOD[form], "ledger": ACTS[name]})
    assert found.gaps["calls"].startswith("`ledger` says that `erase_all` was done: ")


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("form", GOOD)
def test_what_is_no_call_beside_a_conversation_leaves_them_complete(form, name):
    assert not _read({**GOOD[form], "ledger": HARMLESS[name]}).gaps


def test_what_was_done_and_read_as_a_call_is_no_gap():
    call = {"id": "c", "type": "function", "function": {"name": "erase_all", "arguments": "{}"}}
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "done", "tool_calls": [call]}]
    answer = {"role": "tool", "tool_call_id": "c", "content": "ok"}
    assert not _read({"messages": [*messages, answer], "ledger": ACTS["a word of doing"]}).gaps


@pytest.mark.parametrize("form", TOPS)
def test_the_top_of_a_record_is_searched(form):
    files = [path for path in sorted((RECORDINGS / form).iterdir()) if path.suffix in (".json", ".jsonl")]
    documents = load(files[0].read_bytes())
    top = documents[0][0] if isinstance(documents[0], list) else documents[0]
    top["ledger"] = ACTS["a word of doing"]
    found = read(b"\n".join(map(orjson.dumps, documents)))
    assert any("calls" in each.gaps for each in found if isinstance(each, Trace))


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("place", ["invoke_agent", "chat", "event"])
def test_what_was_done_in_free_attributes_makes_the_calls_incomplete(place, name):
    gaps = _read(_load_spans(place, ACTS[name])).gaps
    assert "`app.ledger`" in gaps["calls"]
    assert "says that `erase_all` was done" in gaps["calls"]


BUILDS: dict[str, Any] = {
    "a deployment": {"action": "deploy", "version": {"major": 1}},
    "a build": {"command": "make", "args": ["all"]},
    "a job": {"operation": "nightly", "options": {"retries": 2}},
}


@pytest.mark.parametrize("name", BUILDS)
def test_how_the_program_was_built_is_nothing_that_the_agent_did(name):
    assert not _read(_load_spans("resource", BUILDS[name])).gaps
    for field in ("config", "build", "deployment", "environment", "settings"):
        assert not _read({**GOOD["openai-chat"], field: BUILDS[name]}).gaps
        attribute = json.dumps(_load_spans("invoke_agent", BUILDS[name])).replace("app.ledger", f"{field}.info")
        assert not _read(json.loads(attribute)).gaps


def test_an_attribute_of_a_resource_does_not_hide_what_a_span_says():
    document = _load_spans("resource", BUILDS["a build"])
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    act = {"stringValue": json.dumps(ACTS["a word of doing"])}
    spans[0]["attributes"].append({"key": "app.ledger", "value": act})
    assert "`app.ledger`" in _read(document).gaps["calls"]


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("place", ["invoke_agent", "chat", "resource", "event"])
def test_what_is_no_call_in_free_attributes_leaves_them_complete(place, name):
    assert not _read(_load_spans(place, HARMLESS[name])).gaps


def test_what_a_tool_did_to_fulfil_its_call_is_no_call_of_the_agent():
    assert not _read(_load_spans("execute_tool", ACTS["a word of doing"])).gaps


@pytest.mark.parametrize(
    "attribute", ["http.request.body", "db.query.parameter", "langfuse.observation.metadata", "gen_ai.request.x"]
)
def test_attributes_of_tracers_and_of_requests_are_not_free(attribute):
    document = json.dumps(_load_spans("chat", ACTS["a word of doing"])).replace("app.ledger", attribute)
    assert not _read(json.loads(document)).gaps


def test_no_real_trace_says_so(shared):
    paths = sorted(path for path in (shared / "traces/otlp-json-replayed").rglob("*.jsonl"))
    found = [each for path in paths for each in read(path.read_bytes()) if isinstance(each, Trace)]
    assert len(found) >= 20
    assert [each.gaps for each in found if "was done" in each.gaps.get("calls", "")] == []


def _with_data(value: Any) -> Trace:
    """A message of the Vercel AI SDK with data that the application added."""
    data = {"type": "data-log", "id": "d", "data": value}
    answer = [{"type": "step-start"}, data, {"type": "text", "text": "done"}]
    said = [("user", [{"type": "text", "text": "hi"}]), ("assistant", answer)]
    return _read({"messages": [{"id": role, "role": role, "parts": parts} for role, parts in said]})


@pytest.mark.parametrize("value", ACTS.values(), ids=ACTS)
def test_a_call_in_data_of_a_message_is_not_dropped(value):
    assert "erase_all" in _with_data(value).gaps["calls"]


@pytest.mark.parametrize("value", HARMLESS.values(), ids=HARMLESS)
def test_other_data_of_a_message_leaves_nothing_open(value):
    assert _with_data(value).gaps == {}
