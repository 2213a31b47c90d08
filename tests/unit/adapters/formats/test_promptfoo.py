from __future__ import annotations

import orjson
import pytest
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.promptfoo import reader as promptfoo
from evalgate.errors import TraceError

FOLDER = ROOT / "tests" / "recordings" / "promptfoo"
OUTPUT = orjson.loads((FOLDER / "output.json").read_bytes())
RESULTS = OUTPUT["results"]["results"]


def calls(trace):
    return [(call["name"], call["arguments"]) for call in trace.tool_calls]


def test_results_are_traces_of_their_scenarios():
    assert {trace.scenario_id: calls(trace) for trace in read_traces(FOLDER)} == {
        "remove-ada": [("delete_user", {"id": 7})],
        "remove-bob": [("find_user", {"name": "Bob"}), ("delete_user", {"id": 8})],
        "remove-cleo": [("delete_user", {"id": 9})],
        "greet": [],
        "limited": [],
        "chat": [],
    }
    assert all(trace.gaps == {} for trace in read_traces(FOLDER))


@pytest.mark.parametrize("value", [OUTPUT, OUTPUT["results"], RESULTS, RESULTS[0]])
def test_results_are_detected(value):
    assert detect.detect_format([value]).name == "promptfoo"
    assert promptfoo.split(value)[0]["testIdx"] == 0


def test_damaged_results_keep_their_scenario():
    assert promptfoo.identify(RESULTS[2]) == ("greet", 2)
    assert promptfoo.identify(RESULTS[0]) == ("remove-ada", None)
    assert promptfoo.identify(5) == (None, None)
    with pytest.raises(TraceError, match="is not the result of a test"):
        promptfoo.build({"x": 1})
    with pytest.raises(TraceError, match=r"response\.metadata\.toolCalls\[0\]\.name is missing"):
        promptfoo.build({**RESULTS[0], "response": {"metadata": {"toolCalls": [{"input": {}}]}, "output": "x"}})


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_call_in_the_output_is_one_line_whatever_its_texts_hold(end):
    note = f"a{end}b"
    line = orjson.dumps({"name": "delete_user", "arguments": {"note": note}}).decode()
    text = line.replace(orjson.dumps(note).decode(), f'"{note}"') if ord(end) > 31 else line
    found = promptfoo.build({**RESULTS[0], "response": {"output": f"{text}\r\n{text}"}})
    assert calls(found) == [("delete_user", {"note": note})] * 2
