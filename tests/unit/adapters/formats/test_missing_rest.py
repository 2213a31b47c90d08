"""What a file says of itself to be missing from it: other pages, spans that a server dropped."""

from __future__ import annotations

import pytest

from evalgate.adapters.formats.core.missing_rest import find_missing_rest
from evalgate.adapters.formats.langfuse.reader import READER as LANGFUSE
from evalgate.adapters.formats.langsmith.reader import READER as LANGSMITH

OTLP = {"resourceSpans": []}
TRACE = {"traceID": "a1", "spans": [{"spanID": "b"}]}
PART = {"resourceSpans": [], "partialSuccess": {"rejectedSpans": "3", "errorMessage": "too many"}}
SAID = {"input": [{"role": "user", "content": "x"}], "output": {"role": "assistant", "content": "Done."}}
TIMES = {"startTime": "2026-11-01T10:00:00Z", "endTime": "2026-11-01T10:00:01Z"}
OBSERVATION = {"id": "o", "traceId": "t", "type": "GENERATION", "name": "x", "model": "m", **TIMES, **SAID}
ASKED = {"messages": [{"role": "user", "content": "x"}]}
ANSWERED = {"choices": [{"message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}]}
RUN = {
    "id": "r",
    "run_type": "llm",
    "name": "x",
    "trace_id": "r",
    "inputs": ASKED,
    "outputs": ANSWERED,
    "start_time": "2026-11-01T10:00:00",
    "end_time": "2026-11-01T10:00:01",
}
PARTS = [
    ({"data": [], "next_cursor": "abc"}, "next_cursor"),
    ({"runs": [], "cursors": {"next": "abc"}}, "next"),
    ({"data": [], "meta": {"cursor": "abc"}}, "cursor"),
    ({"traces": [], "next_page_token": "abc"}, "next_page_token"),
    ({"data": [], "has_more": True}, "has_more"),
    ({"data": [], "meta": {"page": 1, "totalPages": 3}}, "1 of 3 pages"),
    ({"trace": OTLP, "status": "PARTIAL", "message": "too large"}, "partial (`too large`)"),
    (PART, "3 spans were rejected (`too many`)"),
    ({"data": [TRACE], "errors": [{"code": 500, "msg": "partial result"}]}, "partial result"),
    ({"data": [{**TRACE, "warnings": ["spans were dropped"]}]}, "spans were dropped"),
    ({"data": [{**TRACE, "spans": [{"spanID": "b", "warnings": ["attributes were dropped"]}]}]}, "attributes"),
]
WHOLE = [
    {"data": [], "next_cursor": None},
    {"runs": [], "cursors": {"next": None, "prev": "abc"}},
    {"data": [], "has_more": False},
    {"data": [], "meta": {"page": 1, "totalPages": 1}},
    {"data": [], "meta": {"page": 1, "totalPages": 0}},
    {"trace": OTLP, "status": "COMPLETE"},
    {**OTLP, "partialSuccess": {}},
    {**OTLP, "partialSuccess": {"rejectedSpans": "0", "errorMessage": "use gzip"}},
    {"data": [{**TRACE, "warnings": []}], "errors": None},
    {"data": [{**TRACE, "warnings": ["clock skew adjustment disabled; not applying delta, limit 0s exceeded"]}]},
    {"data": [{**TRACE, "spans": [{"spanID": "b", "warnings": ["duplicate span IDs; skipping clock skew"]}]}]},
    {"messages": [], "next": "abc", "cursor": "abc", "status": "PARTIAL"},
]


@pytest.mark.parametrize(("document", "shown"), PARTS)
def test_a_file_that_says_that_it_is_a_part(document, shown):
    found = find_missing_rest([document])
    assert found is not None
    assert shown in found


@pytest.mark.parametrize("document", WHOLE)
def test_a_file_that_is_whole(document):
    assert find_missing_rest([document]) is None


def test_all_pages_together_are_whole():
    pages = [{"data": [], "meta": {"page": page, "totalPages": 3}} for page in (1, 2, 3)]
    assert find_missing_rest(pages) is None
    assert find_missing_rest([pages]) is None
    assert find_missing_rest([{"data": [], "has_more": True}, {"data": [], "has_more": False}]) is None


def test_a_page_of_rows_lacks_calls_and_one_of_whole_traces_lacks_traces():
    more = {"meta": {"page": 1, "totalPages": 3}}
    [rows] = LANGFUSE.split([{"data": [OBSERVATION], **more}])
    assert "1 of 3 pages" in LANGFUSE.build(rows).gaps["calls"]
    whole = {"id": "t", "timestamp": "2026-11-01T10:00:00Z", "input": "x", "output": "y", "observations": [OBSERVATION]}
    [found] = LANGFUSE.split([{"data": [whole], **more}])
    trace = LANGFUSE.build(found)
    assert "pages" not in trace.gaps.get("calls", "")
    assert [each["code"] for each in trace.warnings if "1 of 3 pages" in each["message"]] == ["other_pages"]


def test_a_page_of_runs_lacks_calls():
    [tree] = LANGSMITH.split([{"runs": [RUN], "cursors": {"next": "abc"}}])
    assert "`next`" in LANGSMITH.build(tree).gaps["calls"]
