"""CrewAI's outputs and events: what is read, and that no call is lost."""

from __future__ import annotations

import orjson
import pytest
from damage import nest_lists
from documents import ROOT

from evalgate.adapters.formats.crewai import reader as crewai
from evalgate.adapters.formats.crewai.events import clean_name
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError

FOLDER = ROOT / "tests" / "recordings" / "crewai"
CREW, AGENT = (orjson.loads((FOLDER / name).read_bytes()) for name in ("crew.json", "agent.json"))
EVENTS = [orjson.loads(line) for line in (FOLDER / "events.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("document", [CREW, AGENT, EVENTS, {"events": EVENTS}, EVENTS[0], CREW["tasks_output"]])
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "crewai"


@pytest.mark.parametrize(
    ("name", "expected"), [("Delete User", "delete_user"), (" deleteUser ", "delete_user"), ("a's-b", "as_b")]
)
def test_names_are_those_under_which_crewai_finds_tools(name, expected):
    assert clean_name(name) == expected


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        crewai.build({**CREW, "metadata": nest_lists(100)})
