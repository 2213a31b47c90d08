"""docs/statistics.md and its picture against the simulation, the tests and the documents it refers to."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import get_type_hints

import pytest
from documents import ROOT, cells

from evalgate.gate.comparison.significance import (
    flip_p,
    mcnemar,
    pairs_for_scores,
    trials_for_scores,
)
from evalgate.gate.comparison.trial_tests import correct_p_values
from evalgate.gate.comparison.trials_that_decide import trials_for_flip
from evalgate.models.results.results_statistics import StatisticsDoc

PAGE = "docs/statistics.md"


def simulation(*words: str) -> str:
    command = [sys.executable, "benchmarks/simulation.py", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, encoding="utf-8")
    return done.stdout


def text() -> str:
    return (ROOT / PAGE).read_text(encoding="utf-8")


def row(trials: int) -> list[float]:
    found = re.search(rf"^\| {trials} \|.*\|$", text(), re.MULTILINE)
    assert found
    return [float(cell) for cell in found[0].strip("|").split("|") if cell.strip() != "\u2013"]


@pytest.mark.parametrize("trials", [1, 4])
def test_figures_of_the_page_are_those_of_the_simulation(trials):
    assert simulation("--row", str(trials)).rstrip() in text().splitlines()


def test_picture_is_drawn_from_the_table_of_the_page():
    assert simulation("--draw") == (ROOT / "docs/statistics.svg").read_text(encoding="utf-8")


def test_the_simulation_confirms_the_claims_of_the_page():
    alarms, flips, marked_flips, holm, bh = row(4)[1:6]
    assert flips <= marked_flips
    assert alarms <= 0.05 * 46
    assert holm == bh == 0.0
    assert row(4)[9:] == [0.0, 1.0, 1.0]
    assert row(6)[9:] == [0.0, 0.0, 0.0]
    assert row(1)[1] > 8


def test_figures_in_the_text_are_correct():
    assert flip_p(3, 3, 0, 3) == 0.03125
    assert (trials_for_flip(2, 2, 0, 2, 0.05), trials_for_scores(0.05)) == (3, 4)
    enough = [n for n in range(2, 12) if correct_p_values([flip_p(n, n, 0, n)], 50, "holm")[0] <= 0.05]
    assert enough[0] == 6
    assert (mcnemar(6, 0), pairs_for_scores(0.05)) == (0.03125, 6)


def test_every_statistic_is_described():
    described = {
        *cells(PAGE, "Statistics of suites and runs", column=1),
        *("pass_rate_interval", "scenarios", "trials"),
    }
    assert set(get_type_hints(StatisticsDoc)) <= described
