"""Searches and fetched pages that Gemini records beside an answer are calls."""

from __future__ import annotations

import json

import pytest
from command import evalgate

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.gemini import reader as gemini
from evalgate.models.trace.trace import TraceLocation
from evalgate.models.trace.trace_view import list_evidence

SEARCH = {"webSearchQueries": ["who won?", "final score"], "groundingChunks": [{"web": {"uri": "https://a.example"}}]}
PAGES = {"urlMetadata": [{"retrievedUrl": "https://b.example", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}]}
PART = {"toolCall": {"id": "g", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["who won?"]}}}
RESULT = {"toolResponse": {"id": "g", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}}


def document(*parts, **beside):
    content = {"role": "model", "parts": [*parts, {"text": "Spain."}]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0, **beside}
    contents = [{"role": "user", "parts": [{"text": "Who won?"}]}]
    return {
        "scenario_id": "a",
        "contents": contents,
        "response": {"candidates": [candidate], "modelVersion": "gemini-x"},
    }


@pytest.mark.parametrize(
    ("parts", "beside", "calls"),
    [
        ((), {"groundingMetadata": SEARCH}, [("google_search", {"queries": SEARCH["webSearchQueries"]})]),
        ((), {"groundingMetadata": {"groundingChunks": [{"web": {}}]}}, [("google_search", {})]),
        ((), {"groundingMetadata": {"retrievalQueries": ["q"]}}, [("file_search", {"queries": ["q"]})]),
        ((), {"groundingMetadata": {"groundingChunks": [{"retrievedContext": {"text": "x"}}]}}, [("file_search", {})]),
        ((), {"groundingMetadata": {"groundingChunks": [{"maps": {"title": "x"}}]}}, [("google_maps", {})]),
        ((), {"urlContextMetadata": PAGES}, [("url_context", {"urls": ["https://b.example"]})]),
        ((), {"grounding_metadata": {"web_search_queries": ["q"]}}, [("google_search", {"queries": ["q"]})]),
        ((PART, RESULT), {"groundingMetadata": SEARCH}, [("google_search_web", {"queries": ["who won?"]})]),
        ((), {"groundingMetadata": {"searchEntryPoint": {"renderedContent": "x"}}}, []),
        ((), {"groundingMetadata": None, "urlContextMetadata": {"urlMetadata": []}}, []),
    ],
)
def test_what_google_ran_beside_the_answer_is_a_call(parts, beside, calls):
    trace = read_record(gemini.READER, document(*parts, **beside), TraceLocation(), "trace.json")
    assert [(call["name"], call["arguments"]) for call in trace.tool_calls] == calls
    assert trace.response["content"] == "Spain."
    assert parts or list_evidence(trace)["calls"] == "complete"


def test_a_blocked_answer_keeps_its_search():
    found = document(groundingMetadata=SEARCH)
    del found["response"]["candidates"][0]["content"]
    assert [call["name"] for call in gemini.build(found).tool_calls] == ["google_search"]


def test_a_forbidden_search_fails_the_run(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(document(groundingMetadata=SEARCH)))
    checks = "[{type: forbidden_tools, tools: [google_search], required: true}]"
    (tmp_path / "suite.yaml").write_text(
        f"suite: s\ntraces: [t.json]\nscenarios:\n  - {{id: '*', assertions: {checks}}}\n"
    )
    done = evalgate(tmp_path, ["suite.yaml"])
    assert (done.code, "google_search" in done.stdout) == (1, True), done
