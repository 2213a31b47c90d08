from __future__ import annotations

import copy

import orjson
import pytest
from documents import ROOT

from evalgate.adapters.formats.dspy import reader as dspy
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError

FOLDER = ROOT / "tests" / "recordings" / "dspy"
REACT = orjson.loads((FOLDER / "react.json").read_bytes())
NATIVE = [orjson.loads(line) for line in (FOLDER / "native.jsonl").read_bytes().splitlines()]


def entry(output, **fields):
    return {**copy.deepcopy(NATIVE[0]), "outputs": [output], **fields}


@pytest.mark.parametrize("value", [REACT, [REACT], NATIVE, NATIVE[0]])
def test_histories_are_detected(value):
    assert detect.detect_format([value]).name == "dspy"


def test_a_file_is_split_by_history_and_scenario():
    other = entry("x", scenario_id="other")
    assert len(dspy.split([NATIVE, other, REACT])) == 3
    assert dspy.identify({"history": [other]}) == ("other", None)
    assert dspy.identify(REACT) == ("remove-user", 0)
    with pytest.raises(TraceError, match=r"history\[1\] is not an entry"):
        dspy.build({"history": [other, {"x": 1}]})
