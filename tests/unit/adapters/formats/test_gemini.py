"""Gemini's contents, requests and responses: what is read, and that no call is lost."""

from __future__ import annotations

import orjson
import pytest
from damage import damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.gemini import reader as gemini
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import TraceLocation
from evalgate.models.trace.trace_view import list_evidence

FOLDER = ROOT / "tests" / "recordings" / "gemini"
DOCUMENTS = {path.stem: orjson.loads(path.read_bytes()) for path in FOLDER.iterdir()}
BOTH, RESPONSE = DOCUMENTS["request-and-response"], DOCUMENTS["response"]


def read(document):
    return read_record(gemini.READER, document, TraceLocation(), "trace.json")


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "gemini"
    assert detect.detect_format([[document]]).name == "gemini"
    assert gemini.READER.split(document) == [document]


def test_several_traces_in_a_document_are_read():
    assert gemini.READER.split([BOTH, BOTH]) == [BOTH, BOTH]
    assert gemini.READER.split([RESPONSE, RESPONSE | {"response_id": "r9"}]) == [
        RESPONSE,
        RESPONSE | {"response_id": "r9"},
    ]


@given(damage_document(BOTH) | damage_document(RESPONSE) | damage_document(DOCUMENTS["stream"]))
def test_damage_is_refused_with_a_reason(document):
    read(document)


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        gemini.build({**BOTH, "metadata": nest_lists(100)})


LATER = [{"role": "model", "parts": [{"text": "Sure."}]}, {"role": "user", "parts": [{"text": "Now delete it."}]}]


@pytest.mark.parametrize(
    ("response", "state"),
    [
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "missing"),
        ({"candidates": [{"finishReason": "FinishReason.SAFETY", "index": 0}]}, "missing"),
        (
            {"candidates": [{"finishReason": "SAFETY", "content": {"role": "model", "parts": [{"text": "I"}]}}]},
            "missing",
        ),
        ({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "content": {}}]}, "missing"),
        (
            {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "I"}]}}]},
            "complete",
        ),
        ({"candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": [{"text": "I"}]}}]}, "complete"),
    ],
)
def test_a_blocked_answer_leaves_the_calls_unknown(response, state):
    asked = {"role": "user", "parts": [{"text": "hi"}]}
    assert list_evidence(read({"contents": [asked, *LATER], "response": response}))["calls"] == state
