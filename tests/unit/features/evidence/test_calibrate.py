"""How often the gate is red without a change: exact chances, intervals, what is left out, and no number without history."""

from __future__ import annotations

import json
from importlib import import_module
from itertools import combinations

import pytest
from in_process_command import evalgate

from evalgate.features.evidence.application import calibrate as calibration
from evalgate.features.evidence.measures.alarm_rates import (
    RecordedScenario,
    chance_at,
    chance_of_recorded,
    interval_of_rate,
    join_chances,
)

SUITE = """suite: book
scenarios:
  - id: "*"
    assertions:
      - {type: tool_called, tool: book, required: true}
policy: {fail_on: [broken]}
"""
BROKEN = tuple(tuple(before == 2 > now for now in range(3)) for before in range(3))


def record(folder, name, outcomes, model="m", suite=SUITE, first=0):
    lines = [
        {
            "schema": "evalgate.trace/1",
            "scenario_id": f"s{number}",
            "started_at": f"2026-01-01T{first:02}:{number:02}:{trial:02}Z",
            "model": model,
            "messages": [{"role": "user", "content": "book it"}, {"role": "assistant", "content": f"{name} {trial}"}],
            "tool_calls": [{"name": "book", "arguments": {}, "result": "ok"}] if each == "p" else [],
        }
        for number, word in enumerate(outcomes.split())
        for trial, each in enumerate(word)
    ]
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "suite.yaml").write_text(suite)
    evalgate("run", "suite.yaml", "--traces", f"{name}.jsonl", "--output-dir", name, "-q", cwd=str(folder))


def figures(folder, *arguments):
    found = evalgate("calibrate", *arguments, "--json", cwd=str(folder))
    assert found.exit_code == 0, found.err
    return json.loads(found.out)


@pytest.mark.parametrize("passed", range(6))
def test_chance__is_that_of_all_disjoint_samples(passed):
    outcomes = [True] * passed + [False] * (5 - passed)
    red = total = 0
    for first in combinations(range(5), 2):
        for second in combinations([at for at in range(5) if at not in first], 2):
            total += 1
            red += BROKEN[sum(outcomes[at] for at in first)][sum(outcomes[at] for at in second)]
    assert chance_of_recorded(RecordedScenario(passed, 5, BROKEN)) == pytest.approx(red / total)


def test_chance_at_a_rate():
    assert chance_at(BROKEN, 0.5, 0.5) == pytest.approx(0.25 * 0.75)
    assert join_chances([0.5, 0.5]) == 0.75


def test_scenarios_that_never_failed__leave_an_alarm_possible():
    always = [RecordedScenario(4, 4, BROKEN)] * 30
    low, median, high = interval_of_rate(always, b"a")
    assert low == 0
    assert 0.01 < high < 0.6
    assert low <= median <= high
    assert interval_of_rate(always, b"a") == (low, median, high)


def test_the_gate_decides__and_no_copy_of_it():
    assert calibration.decide is import_module("evalgate.gate.decision.decide").decide
    assert calibration.compare is import_module("evalgate.gate.comparison.compare").compare
    assert calibration.judge_scenario is import_module("evalgate.scoring.scenario").judge_scenario


def test_figures_of_a_run__are_those_of_its_splits(tmp_path):
    record(tmp_path, "one", "pppp ppff pppp pppp pppp ffff")
    found = figures(tmp_path, "--history", "one", "--trials", "2")
    rates = found["red_without_change"]
    assert rates["of_splits"] == pytest.approx(1 / 6, abs=1e-6)
    assert rates["low"] <= rates["share"] <= rates["high"]
    assert rates["low"] < 1 / 16 < rates["high"]
    assert [(each["id"], each["passed"]) for each in found["scenarios"] if each["red_without_change"]] == [("s1", 2)]
    assert found["never_failed"] == {"scenarios": 4, "trials": 16}
    stable = next(each for each in found["scenarios"] if each["id"] == "s0")
    assert stable["noticed"] == {"3/4": 0.0625, "1/2": 0.25, "0": 1.0}
    shown = evalgate("calibrate", "--history", "one", "--trials", "2", cwd=str(tmp_path)).out
    assert shown.startswith("red without a change: ")
    assert "of all splits of the recorded trials 17% are red" in shown
    assert "half as often: fix or quarantine s1, or record more trials of them" in shown


def test_several_runs__are_pooled_and_a_recording_counts_once(tmp_path):
    record(tmp_path, "one", "p p p p p", first=1)
    record(tmp_path, "two", "f p p p p", first=2)
    found = figures(tmp_path, "--history", "one", "--history", "two", "--history", "two")
    assert (found["runs"], found["scenarios"][0]["trials"]) == (3, 2)
    assert found["red_without_change"]["of_splits"] == 0.5


def test_another_model_or_other_rules__split_the_history(tmp_path):
    record(tmp_path, "old", "pp pp pp pp pp", model="old")
    record(tmp_path, "other", "pp pp pp pp pp", suite=SUITE.replace("broken", "regression"))
    record(tmp_path, "new", "pp pp pp pp pp")
    found = evalgate("calibrate", "--history", "old", "--history", "other", "--history", "new", cwd=str(tmp_path)).out
    assert "of 1 run; left out: 0 scenarios with too few trials, 2 runs of another model" in found


@pytest.mark.parametrize(
    ("outcomes", "suite", "why"),
    [
        ("p p p p p p", SUITE, "too little history: 0 scenarios have the 2 trials"),
        ("pp pp pp pp", SUITE, "too little history: 4 scenarios"),
        (
            "pp pp pp pp pp",
            f"{SUITE}".replace("[broken]", "[broken], regression: {correction: holm}"),
            "regression.correction",
        ),
    ],
    ids=["one trial", "four scenarios", "correction"],
)
def test_without_enough__there_is_no_number(tmp_path, outcomes, suite, why):
    record(tmp_path, "one", outcomes, suite=suite)
    found = evalgate("calibrate", "--history", "one", cwd=str(tmp_path))
    assert (found.exit_code, found.out) == (3, "")
    assert why in found.err


def test_a_results_json__holds_no_suites(tmp_path):
    record(tmp_path, "one", "pp")
    (tmp_path / "one/results.json").rename(tmp_path / "results.json")  # without its baseline.zip
    assert evalgate("calibrate", "--history", "results.json", cwd=str(tmp_path)).exit_code == 2
