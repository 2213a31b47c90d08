"""Amazon Bedrock's Converse API and Strands Agents: what is read, and that no call is lost."""

from __future__ import annotations

import orjson
import pytest
from damage import damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.bedrock import reader as bedrock
from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "bedrock"
DOCUMENTS = {path.stem: orjson.loads(path.read_bytes()) for path in FOLDER.iterdir()}
CONVERSE, STRANDS = DOCUMENTS["converse"], DOCUMENTS["strands"]


def read(document):
    return read_record(bedrock.READER, document, TraceLocation(), "trace.json")


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "bedrock"
    assert detect.detect_format([[document]]).name == "bedrock"
    assert (bedrock.READER.split(document), bedrock.READER.split([document] * 2)) == ([document], [document] * 2)


def test_a_result_of_an_agent_lacks_the_calls_before_its_last_message():
    result = {"type": "agent_result", "message": STRANDS[-1], "stop_reason": "end_turn", "checkpoint": None}
    assert detect.detect_format([result]).name == "bedrock"
    trace = read(result)
    assert (trace.response["content"], trace.finish_reason) == ("User 7 is removed.", "stop")
    assert "agent.messages" in trace.gaps["calls"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "robot", "content": []}, r"messages\[0\].role is not one of"),
        ({"role": "user", "content": 5}, r"messages\[0\].content is not a list"),
        ({"role": "user", "content": [{"toolUse": {"input": {}}}]}, r"content\[0\].toolUse.name is missing"),
        ({"role": "user", "content": [{"toolUse": {"name": "n", "input": [1]}}]}, "toolUse.input is neither"),
    ],
)
def test_errors_name_the_field(message, reason):
    with pytest.raises(TraceError, match=reason):
        bedrock.build([message])


@given(damage_document(CONVERSE) | damage_document(STRANDS) | damage_document(DOCUMENTS["strands-snapshot"]))
def test_damage_is_refused_with_a_reason(document):
    read(document)


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        bedrock.build({**CONVERSE, "requestMetadata": nest_lists(100)})
