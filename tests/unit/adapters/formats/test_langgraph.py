"""LangGraph's states, checkpoints and histories: what is read, and that no call is lost."""

from __future__ import annotations

from copy import deepcopy

import orjson
import pytest
from damage import damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.langgraph import reader as langgraph
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "langgraph"
DOCUMENTS = {path.stem: orjson.loads(path.read_bytes()) for path in FOLDER.iterdir()}
STATE, CHECKPOINT, HISTORY = DOCUMENTS["state"], DOCUMENTS["checkpoint"], DOCUMENTS["history"]
USER = {"type": "human", "content": "hi"}


def read(document):
    return read_record(langgraph.READER, document, TraceLocation(), "trace.json")


def state(*messages, **fields):
    return {"values": {"messages": [USER, *messages]}, "next": [], **fields}


def called(trace):
    return [(call["name"], call["arguments"], call["status"]) for call in trace.tool_calls]


@pytest.mark.parametrize("document", [*DOCUMENTS.values(), CHECKPOINT["checkpoint"], {"values": STATE["values"]}])
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "langgraph"
    assert langgraph.READER.split(document) == [document]


def test_states_of_several_threads_are_several_traces():
    other = deepcopy(STATE)
    other["config"]["configurable"]["thread_id"] = "t9"
    assert langgraph.READER.split([STATE, other]) == [STATE, other]
    assert detect.detect_format([[STATE, other]]).name == "langgraph"


def test_messages_that_were_written_and_not_yet_applied_are_read():
    ai = {"type": "ai", "id": "m9", "content": "", "tool_calls": [{"name": "drop_all", "args": {}, "id": "c9"}]}
    trace = read({**CHECKPOINT, "pending_writes": [["task", "messages", [ai]], ["task", "other", 1]]})
    assert [name for name, *_ in called(trace)] == ["delete_user", "drop_all"]


@given(damage_document(STATE) | damage_document(CHECKPOINT) | damage_document(HISTORY))
def test_damage_is_refused_with_a_reason(document):
    read(document)


def test_a_history_without_states_is_damaged():
    damaged = read([])
    assert damaged.reason == "the history has no states"


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        langgraph.build({**STATE, "metadata": nest_lists(100)})
