from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from results_builder import a_scenario, a_suite, a_trial, results
from run_builders import make_run, make_scenario, make_suite, make_trial

from evalgate.gate.comparison.outcomes import outcome_from_scenario, outcomes_from_baseline, outcomes_from_run
from evalgate.models.comparison.comparison import ScenarioKey, ScenarioOutcome
from evalgate.models.run.run import Run
from evalgate.models.run.trial_doc import Recorded
from evalgate.reporting.results.load_results import convert_baseline_run
from evalgate.reporting.results.results_json import dump_results

if TYPE_CHECKING:
    from evalgate.models.results.baseline_run import BaselineRun


def make_baseline(*trials: Any, **scenario: Any) -> BaselineRun:
    usage = {"cost_usd": 0.25, "latency_seconds": None, "total_tokens": 70}
    made = [a_trial(number, **usage, **each) for number, each in enumerate(trials)]
    return convert_baseline_run(results([a_suite("support", [a_scenario("refund", trials=made, **scenario)])]))


def test_outcome_of_a_scenario_has_one_entry_per_trial():
    trials = [
        make_trial("passed", cost_usd=0.5, latency_seconds=2.0, total_tokens=10),
        make_trial("not_evaluable"),
    ]
    scenario = make_scenario("PASS", "refund", trials=trials, variant="de")
    assert outcome_from_scenario(ScenarioKey("support", "refund", "de"), scenario) == ScenarioOutcome(
        ScenarioKey("support", "refund", "de"),
        "PASS",
        1.0,
        [True, False],
        [1.0, None],
        [0.5, None],
        [2.0, None],
        [10, None],
        [0, 0],
        recorded=[Recorded(), Recorded()],
        digests=[None, None],
    )


def test_outcomes_of_a_run_are_keyed_by_suite_and_variant():
    run = Run(
        [
            make_suite(make_scenario("PASS", "a"), make_scenario("FAIL", "a", variant="de"), name="one"),
            make_suite(make_scenario("MISSING", "a"), name="two"),
        ]
    )
    assert {key: found.verdict for key, found in outcomes_from_run(run).items()} == {
        ("one", "a", None): "PASS",
        ("one", "a", "de"): "FAIL",
        ("two", "a", None): "MISSING",
    }


def test_outcomes_are_read_from_a_document():
    key = ScenarioKey("support", "refund", None)
    found = outcomes_from_baseline(make_baseline({}, {"status": "failed", "score": 0.5}, score=0.75))
    assert found == {
        key: ScenarioOutcome(
            *(key, "PASS", 0.75, [True, False], [1.0, 0.5], [0.25, 0.25], [None, None], [70, 70], [0, 1]),
            recorded=[Recorded(), Recorded()],
            digests=[None, None],
            failed_required=frozenset(),
        )
    }


def test_document_without_token_counts_leaves_them_unknown():
    stored = json.loads(dump_results(results([a_suite("support", [a_scenario("refund", trials=[a_trial()])])])))
    del stored["suites"][0]["scenarios"][0]["trials"][0]["total_tokens"]
    assert next(iter(outcomes_from_baseline(convert_baseline_run(stored)).values())).tokens == [None]


def test_unknown_verdict_of_another_version_counts_as_not_evaluable():
    assert next(iter(outcomes_from_baseline(make_baseline(verdict="QUARANTINED")).values())).verdict == "NOT_EVALUABLE"


def test_scenario_without_trials_has_no_statistics():
    found = outcomes_from_run(make_run(make_scenario("MISSING")))
    assert next(iter(found.values())) == ScenarioOutcome(ScenarioKey("support", "s1", None), "MISSING", None)
