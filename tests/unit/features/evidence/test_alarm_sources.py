"""The figures of docs/calibrate.md about why one agent has more alarms than another."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from documents import ROOT

SCRIPT = ROOT / "benchmarks/alarm_sources.py"
RECORDINGS = ROOT.parent / "shared/traces/tau-bench"
SUITE = """suite: tau
scenarios: [{id: "*", assertions: [{path: scores.reward, eq: 1}]}]
policy: {fail_on: [broken]}
"""


def read_table():
    page = (ROOT / "docs/calibrate.md").read_text()
    table = page[page.index("| what is known of the pass rates") :].split("\n\n")[0]
    return [[int(each) for each in re.findall(r"(?<=\| )\d+(?= \|)", line)] for line in table.split("\n")[2:]]


def percent(text):
    return [round(100 * float(each)) for each in re.findall(r"0\.\d{3}", text)]


@pytest.mark.matrix
@pytest.mark.shared
def test_the_page_has_the_figures_of_both_agents(tmp_path):
    (tmp_path / "tau.yaml").write_text(SUITE)
    command = [sys.executable, "-m", "evalgate", "run", "tau.yaml", "--traces", f"{RECORDINGS}/*.json", "-q"]
    subprocess.run([*command, "--report-only"], cwd=tmp_path, check=True, capture_output=True)
    words = [sys.executable, SCRIPT, tmp_path / ".evalgate/baseline.zip"]
    shown = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    [rates], [sim_shares, tau_shares, _], [sim_found, tau_found, _] = read_table()
    assert percent(shown) == [rates, sim_shares, sim_found, tau_shares, tau_found, 84]


def test_differences_are_those_of_the_columns():
    assert all(row[2] == row[1] - row[0] for row in read_table()[1:])
