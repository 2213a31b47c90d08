from __future__ import annotations

import orjson
import pytest
from documents import ROOT

from evalgate.adapters.formats.open import detect

FOLDER = ROOT / "tests" / "recordings" / "dspy"
REACT = orjson.loads((FOLDER / "react.json").read_bytes())
NATIVE = [orjson.loads(line) for line in (FOLDER / "native.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("value", [REACT, [REACT], NATIVE, NATIVE[0]])
def test_histories_are_detected(value):
    assert detect.detect_format([value]).name == "dspy"
