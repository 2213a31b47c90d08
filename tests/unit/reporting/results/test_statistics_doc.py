from __future__ import annotations

import copy
from datetime import UTC, datetime

import pytest
from run_builders import make_assertion, make_run, make_scenario, make_trial

from evalgate.errors import SettingError
from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.outcomes import compute_run_statistics, outcomes_from_run
from evalgate.models.comparison.decision import Decision
from evalgate.reporting.results.load_results import load_results
from evalgate.reporting.results.results_json import RunFindings, RunOrigin, build_results_document, dump_results
from evalgate.suite.policy import RegressionPolicy

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECRET = "ghp_" + "a1B2" * 9


def a_run(*statuses):
    """A run of one scenario with the given trials; each failed trial fails one check."""
    checks = {"passed": [], "failed": [make_assertion("failed", name=SECRET)]}
    trials = [
        make_trial(status, number=place, cost_usd=0.1, assertions=checks[status])
        for place, status in enumerate(statuses)
    ]
    return make_run(make_scenario("PASS" if "failed" not in statuses else "FAIL", trials=trials))


def document(before, now, **policy):
    comparison = compare(outcomes_from_run(now), outcomes_from_run(before), {"support": RegressionPolicy(**policy)})
    decision = Decision("pass", 0, suite_verdicts={"support": "pass"})
    found = RunFindings(statistics=compute_run_statistics(now, comparison))
    return build_results_document(now, comparison, decision, RunOrigin(None, NOW), found)


GOOD, BAD = a_run(*["passed"] * 4), a_run(*["failed"] * 4)


def test_statistics_are_in_the_document_for_the_run_and_each_suite():
    made = document(GOOD, BAD)
    assert made["figures"] == made["suites"][0]["figures"]
    figures = made["figures"]
    assert (figures["pass_rate"], figures["pass_rate_interval"]) == (
        0.0,
        [0.0, pytest.approx(0.793, abs=1e-3)],
    )
    assert figures["pass_k"][0] == {"k": 1, "pass_at_k": 0.0, "pass_hat_k": 0.0}
    assert (figures["cost_usd"], figures["cost_mean_usd"], figures["total_tokens"]) == (0.4, 0.1, None)
    assert figures["delta"]["pass_rate"] == -1.0
    assert figures["delta"]["pass_k"][3] == {"k": 4, "pass_at_k": -1.0, "pass_hat_k": -1.0}
    assert (figures["delta"]["cost_usd"], figures["delta"]["total_tokens"]) == (0.0, None)


def test_names_of_failed_checks_are_cleaned_like_all_names():
    made = document(GOOD, BAD)
    assert SECRET not in str(made)
    (check,) = made["figures"]["lost_checks"]
    assert (check["failed"], check["scenarios"], check["weight_lost"]) == (4, 1, 4.0)


def test_expected_false_alarms_are_in_the_comparison():
    made = document(GOOD, BAD)
    expected = 2 * 0.5**8
    assert made["comparison"] == {
        "compared": 1, "tested": 1, "single_trial": 0, "expected_false_alarms": expected,
    }  # fmt: skip


def test_corrected_p_value_is_added_to_the_raw_one_if_there_is_a_correction():
    plain = document(GOOD, BAD)["suites"][0]["scenarios"][0]["change"]
    holm = document(GOOD, BAD, correction="holm")["suites"][0]["scenarios"][0]["change"]
    assert "p_corrected" not in plain
    assert holm["p_corrected"] == holm["p_value"] == plain["p_value"]


def test_document_is_read_back_unchanged_with_and_without_the_newer_fields():
    made = document(GOOD, BAD)
    assert load_results(dump_results(made)) == made
    old = copy.deepcopy(made)
    for each in (old, old["suites"][0]):
        del each["figures"]
    del old["comparison"]
    assert load_results(dump_results(old)) == old


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda figures: figures.update(pass_rate=2), "figures.pass_rate has a value that is not allowed"),
        (lambda figures: figures.update(score="high"), "figures.score is not a number or null"),
        (lambda figures: figures.update(pass_rate_interval=[0]), "pass_rate_interval has a value that is not allowed"),
        (
            lambda figures: figures.update(pass_rate_interval=[0, 1e300]),
            "pass_rate_interval[1] has a value that is not allowed",
        ),
        (lambda figures: figures.update(total_tokens=1e300), "total_tokens is not a whole number"),
        (lambda figures: figures["delta"].update(score=-1.5), "figures.delta.score has a value that is not allowed"),
        (lambda figures: figures["delta"].update(score_interval=["a", 1]), "score_interval[0] is not a number"),
        (lambda figures: figures["pass_k"].append(1), "pass_k[4] is not an object"),
        (lambda figures: figures["pass_k"][0].update(pass_at_k=7), "pass_at_k has a value that is not allowed"),
        (
            lambda figures: figures["lost_checks"][0].pop("name"),
            "lost_checks[0].name is missing",
        ),
        (lambda figures: figures.update(delta=[]), "figures.delta is not an object or null"),
    ],
)
@pytest.mark.parametrize("place", ["run", "suite"])
def test_statistics_of_a_wrong_shape_are_refused(change, message, place):
    made = document(GOOD, BAD)
    change(made["figures"] if place == "run" else made["suites"][0]["figures"])
    with pytest.raises(SettingError) as refused:
        load_results(dump_results(made))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("tested", "all", "comparison.tested is not a whole number"),
        ("expected_false_alarms", -1, "comparison.expected_false_alarms has a value that is not allowed"),
    ],
)
def test_comparison_of_a_wrong_shape_is_refused(field, value, message):
    made = document(GOOD, BAD)
    made["comparison"][field] = value
    with pytest.raises(SettingError) as refused:
        load_results(dump_results(made))
    assert message in str(refused.value)
