"""An unchanged agent rarely seems to act differently: the bars that docs/baseline.md states, on real repeated trials."""

import importlib.util
from itertools import combinations

import pytest
from documents import ROOT

pytestmark = pytest.mark.shared
MOST_LINES, MOST_SINGLE = 0.05, 0.1


@pytest.fixture(scope="module")
def noise():
    spec = importlib.util.spec_from_file_location("behaviour_noise", ROOT / "benchmarks/behaviour_noise.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stated_bars_hold(noise, shared):
    tasks = noise.load_tasks(str(shared / "traces/tau-bench/gpt-4o-airline.json"))
    pairs = [pair for trials in tasks for pair in noise.split_in_pairs(trials)]
    found = [noise.compare(*pair, passes=False) for pair in pairs]
    assert len(found) == 150
    assert sum(map(len, found)) / len(found) <= MOST_LINES
    singles = [pair for trials in tasks for pair in combinations(trials, 2) if pair[0][1] and pair[1][1]]
    found = [noise.compare([one], [two], passes=True) for one, two in singles]
    assert len(found) == 82
    assert sum(map(bool, found)) / len(found) <= MOST_SINGLE
