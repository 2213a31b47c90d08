from __future__ import annotations

from typing import Any

from run_builders import make_run, make_scenario, make_suite, make_trial

from evalgate.gate.standing import standing, standings_of, standings_of_run
from evalgate.models.comparison import ScenarioKey, Standing
from evalgate.models.run import Run


def document(**scenario: Any) -> Any:
    trial = {
        "trial": 0,
        "status": "passed",
        "score": 1.0,
        "cost_usd": 0.25,
        "latency_seconds": None,
        "total_tokens": 70,
    }
    stored = {"id": "refund", "variant": None, "verdict": "PASS", "score": 1.0, "trials": [trial], **scenario}
    return {"suites": [{"suite": "support", "scenarios": [stored]}]}


def test_standing_of_a_scenario_keeps_one_entry_a_trial():
    trials = [
        make_trial("passed", cost_usd=0.5, latency_seconds=2.0, total_tokens=10),
        make_trial("not_evaluable"),
    ]
    scenario = make_scenario("PASS", "refund", trials=trials, variant="de")
    assert standing("support", scenario) == Standing(
        ScenarioKey("support", "refund", "de"),
        "PASS",
        1.0,
        [True, False],
        [1.0, None],
        [0.5, None],
        [2.0, None],
        [10, None],
        [0, 0],
    )


def test_standings_of_a_run_tell_suites_and_variants_apart():
    run = Run(
        [
            make_suite(make_scenario("PASS", "a"), make_scenario("FAIL", "a", variant="de"), name="one"),
            make_suite(make_scenario("MISSING", "a"), name="two"),
        ]
    )
    assert {key: found.verdict for key, found in standings_of_run(run).items()} == {
        ("one", "a", None): "PASS",
        ("one", "a", "de"): "FAIL",
        ("two", "a", None): "MISSING",
    }


def test_standings_of_a_document_are_read_back():
    key = ScenarioKey("support", "refund", None)
    assert standings_of(document()) == {
        key: Standing(key, "PASS", 1.0, [True], [1.0], [0.25], [None], [70], [0])
    }


def test_document_without_token_counts_leaves_them_unknown():
    stored = document()
    del stored["suites"][0]["scenarios"][0]["trials"][0]["total_tokens"]
    assert next(iter(standings_of(stored).values())).tokens == [None]


def test_verdict_word_of_another_version_counts_as_not_evaluable():
    assert next(iter(standings_of(document(verdict="QUARANTINED")).values())).verdict == "NOT_EVALUABLE"


def test_scenario_without_trials_has_no_figures():
    found = standings_of_run(make_run(make_scenario("MISSING")))
    assert next(iter(found.values())) == Standing(ScenarioKey("support", "s1", None), "MISSING", None)
