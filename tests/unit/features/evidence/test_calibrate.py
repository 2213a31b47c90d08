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


def record(folder, name, outcomes, *, model="m", suite=SUITE, first=0, store="none"):
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
    options = ["--output-dir", name, "-q", "--store-url", store]
    evalgate("run", "suite.yaml", "--traces", f"{name}.jsonl", *options, cwd=str(folder))


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


def test_trials_without_a_time_that_did_the_same__count_each(tmp_path):
    record(tmp_path, "one", "pp pp pp pp pp")
    lines = [json.loads(line) for line in (tmp_path / "one.jsonl").read_text().splitlines()]
    for number, each in enumerate(lines):
        del each["started_at"]
        each |= {"trial": number % 2, "messages": each["messages"][:1]}
    (tmp_path / "one.jsonl").write_text("\n".join(map(json.dumps, lines)))
    evalgate("run", "suite.yaml", "--traces", "one.jsonl", "--output-dir", "one", "-q", cwd=str(tmp_path))
    found = figures(tmp_path, "--history", "one", "--history", "one")
    assert (found["runs"], found["scenarios"][0]["trials"]) == (2, 2)


def test_another_model_or_other_rules__split_the_history(tmp_path):
    record(tmp_path, "old", "pp pp pp pp pp", model="old")
    record(tmp_path, "other", "pp pp pp pp pp", suite=SUITE.replace(", required: true", ""))
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


def record_in_store(folder, runs, url="runs.db", word="pp pp pp pp pf"):
    """Runs of one agent, stored on main; the last one's comment."""
    for number in range(runs):
        record(folder, "run", word, first=number, store=url)
    return (folder / "run/comment.md").read_text()


def test_a_store__serves_as_history_with_the_suites_that_judged_it(tmp_path):
    record_in_store(tmp_path, 3)
    (tmp_path / "evalgate.yaml").write_text("suites: [suite.yaml]\n")
    found = figures(tmp_path, "suite.yaml", "--store", "runs.db", "--trials", "3")
    assert (found["runs"], found["other_runs"], found["scenarios"][0]["trials"]) == (3, 0, 6)
    (tmp_path / "suite.yaml").write_text(SUITE.replace(", required: true", ""))
    none = evalgate("calibrate", "suite.yaml", "--store", "runs.db", cwd=str(tmp_path))
    assert (none.exit_code, "none of the 3 runs was judged by these suites: book" in none.err) == (3, True)


def test_suites__are_found_as_in_a_run_else_those_of_the_newest_run(tmp_path):
    record(tmp_path, "other", "pp pp pp pp pp", suite=SUITE.replace(", required: true", ""), first=2)
    record(tmp_path, "one", "pp pp pp pp pp", first=1)
    history = ["--history", "one", "--history", "other"]
    assert figures(tmp_path, *history)["other_runs"] == 1
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/book.yaml").write_text(SUITE)
    policies = [figures(tmp_path, *words, *history)["noticed"] for words in ([], ["evals/book.yaml"])]
    assert policies[0] == policies[1]
    (tmp_path / "evals/book.yaml").write_text("suite: [")
    assert figures(tmp_path, *history)["other_runs"] == 1
    assert evalgate("calibrate", "evals", *history, cwd=str(tmp_path)).exit_code == 2


@pytest.mark.parametrize("words", [[], ["--history", "one", "--store", "runs.db"]])
def test_history_or_store__is_needed(tmp_path, words):
    found = evalgate("calibrate", *words, cwd=str(tmp_path))
    assert (found.exit_code, "--history or --store is needed, and only one of them" in found.err) == (2, True)


def test_an_empty_store__is_too_little(tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE)
    found = evalgate("calibrate", "suite.yaml", "--store", "runs.db", cwd=str(tmp_path))
    assert (found.exit_code, "the store has no runs" in found.err) == (3, True)


def test_the_comment__says_from_ten_past_runs_of_these_rules_on_how_often_the_gate_is_red_by_chance(tmp_path):
    assert "This gate is red on" not in record_in_store(tmp_path, 10)
    expected = figures(tmp_path, "suite.yaml", "--store", "runs.db", "--trials", "2")
    record(tmp_path, "run", "pp pp pp pp pf", first=11, store="runs.db")
    [line] = [each for each in (tmp_path / "run/comment.md").read_text().split("\n") if "This gate is red on" in each]
    shown = json.loads((tmp_path / "run/results.json").read_text())["history"]["calibration"]
    assert (shown["runs"], shown["scenarios"]) == (10, 5)
    assert shown["share"] == pytest.approx(expected["red_without_change"]["share"], abs=0.03)
    assert shown["noticed"] == pytest.approx(expected["noticed"]["1/2"], abs=0.01)
    assert line.endswith("by the last 10 runs of these rules.")
    other = SUITE.replace(", required: true", "")
    record(tmp_path, "run", "pp pp pp pp pf", suite=other, store="runs.db", first=12)
    assert "This gate is red on" not in (tmp_path / "run/comment.md").read_text()


@pytest.mark.parametrize(
    ("limit", "outcomes", "warning"),
    [
        ("max_false_alarm: 0.05", "ppff ppff pppp pppp pppp", "%), `max_false_alarm` allows 5%"),
        ("max_false_alarm: 0.5", "ppff pppp pppp pppp pppp", ""),
        ("max_false_alarm: 0.5", "ppff", "is not known: too little history"),
        ("min_evaluated: 0", "ppff", "--history has no effect: no policy has `max_false_alarm`"),
    ],
)
def test_validate__warns_of_more_false_alarms_than_the_policy_allows(tmp_path, limit, outcomes, warning):
    suite = SUITE.replace('id: "*"', 'id: "*"\n    trials: {min: 2}')
    record(tmp_path, "one", outcomes, suite=suite)
    (tmp_path / "suite.yaml").write_text(suite.replace("[broken]", f"[broken], {limit}"))
    found = evalgate("validate", "suite.yaml", "--history", "one", cwd=str(tmp_path))
    assert found.exit_code == 0
    assert warning in found.err
    assert bool(found.err) is bool(warning)
