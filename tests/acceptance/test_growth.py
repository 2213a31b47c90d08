"""The CPU time of a run grows in proportion to each thing that a user may have more of."""

import importlib
import sys
from pathlib import Path

import pytest
from documents import ROOT

pytestmark = pytest.mark.matrix
MOST = 1.5
"""Exponent; with room for a busy machine: what grows with the square has 2."""


@pytest.fixture(scope="module")
def benchmarks():
    folder = str(ROOT / "benchmarks")
    sys.path.insert(0, folder)
    yield importlib.import_module("growth")
    sys.path.remove(folder)


def test_no_dimension_grows_faster_than_in_proportion(benchmarks, tmp_path):
    gate = benchmarks.Gate(Path(sys.executable), tmp_path, rounds=2)
    found = {name: benchmarks.measure_growth(gate, name) for name in benchmarks.CASES}
    assert {name: growth for name, growth in found.items() if growth > MOST} == {}
