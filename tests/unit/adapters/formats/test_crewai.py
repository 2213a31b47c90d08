"""CrewAI's outputs and events: what is read, and that no call is lost."""

from __future__ import annotations

from copy import deepcopy

import orjson
import pytest
from damage import ANYTHING, damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.crewai import reader as crewai
from evalgate.adapters.formats.crewai.events import clean_name
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "crewai"
CREW, AGENT = (orjson.loads((FOLDER / name).read_bytes()) for name in ("crew.json", "agent.json"))
EVENTS = [orjson.loads(line) for line in (FOLDER / "events.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("document", [CREW, AGENT, EVENTS, {"events": EVENTS}, EVENTS[0], CREW["tasks_output"]])
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "crewai"


def test_lines_with_events_are_one_run():
    assert crewai.split(EVENTS) == [{"events": EVENTS}]
    assert crewai.split([CREW, AGENT]) == [CREW, AGENT]
    assert crewai.split([[CREW, CREW]]) == [CREW, CREW]


@pytest.mark.parametrize(
    ("name", "expected"), [("Delete User", "delete_user"), (" deleteUser ", "delete_user"), ("a's-b", "as_b")]
)
def test_names_are_those_under_which_crewai_finds_tools(name, expected):
    assert clean_name(name) == expected


@given(damage_document(CREW) | damage_document(AGENT) | damage_document({"events": deepcopy(EVENTS)}))
def test_damage_is_refused_with_a_reason(document):
    read_record(crewai.READER, document, TraceLocation(), "trace.json")


@given(ANYTHING)
def test_detection_never_fails(value):
    assert detect.find_format("crewai").claims(value) in (True, False)


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        crewai.build({**CREW, "metadata": nest_lists(100)})
