from __future__ import annotations

import copy

import orjson
import pytest
from documents import ROOT

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.deepeval import DEEPEVAL
from evalgate.adapters.formats.deepeval import reader as deepeval
from evalgate.adapters.formats.open import detect
from evalgate.models.trace.trace import TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "deepeval"
RUN = orjson.loads((FOLDER / "test_run.json").read_bytes())
CASE, TRACED, GREETING = RUN["testCases"]
TALK = RUN["conversationalTestCases"][0]


def read(case, **fields):
    (record,) = deepeval.split([{**copy.deepcopy(case), **fields}])
    return read_record(DEEPEVAL.reader, record, TraceLocation("x.json"), "x.json")


@pytest.mark.parametrize(
    "value",
    [
        RUN,
        {"testRunData": RUN},
        {"cases": [CASE], "conversationalTestCases": [TALK]},
        {"test_results": [{"name": "a", "input": "x", "actual_output": "y", "metrics_data": [], "success": True}]},
        {"input": "x", "actual_output": "y", "tools_called": [{"name": "delete_user", "input_parameters": {}}]},
        [CASE],
    ],
)
def test_test_runs_and_cases_are_detected(value):
    assert detect.detect_format([value]).name == "deepeval"
    assert deepeval.split(value)


def test_images_are_left_out_of_texts():
    trace = read(CASE, input=["Who is", {"url": "https://example.org/a.png"}, "this?"])
    assert trace.messages[0]["content"] == "Who is\nthis?"
    assert deepeval.identify(5) == (None, None)
