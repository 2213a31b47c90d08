"""Which scenarios are called flaky, since when, and whether that is new."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.gate.decision.stability import add_outcome, collect_outcomes, measure_stability
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stability import MIN_RUNS, WINDOW
from evalgate.models.history.stored_run import ScenarioHistoryEntry, StoredScenarioRow

KEY = ScenarioKey("s", "a", None)
START = datetime(2026, 3, 1, tzinfo=UTC)
VERDICTS = {"+": "PASS", "-": "FAIL", "!": "HARD_FAIL", "e": "ERROR", "m": "MISSING", "n": "NOT_EVALUABLE"}


def make_history(signs, fingerprints=None):
    return [
        ScenarioHistoryEntry(
            f"run{number}",
            START + timedelta(days=number),
            "main",
            None,
            StoredScenarioRow(KEY, VERDICTS[sign], trace_sha256=fingerprints and fingerprints[number]),
        )
        for number, sign in enumerate(signs)
    ]


def of(signs, fingerprints=None):
    return measure_stability(collect_outcomes(KEY, make_history(signs, fingerprints)))


@pytest.mark.parametrize(
    ("signs", "steadiness", "flips"),
    [
        ("", "unknown", 0),
        ("+-+", "unknown", 2),
        ("++++", "steady", 0),
        ("----", "steady", 0),
        ("++--", "changed", 1),
        ("+++-+", "flaky", 2),
        ("+-+-", "flaky", 3),
        ("+!++", "flaky", 2),
    ],
)
def test_one_flip_is_a_change_and_two_are_flaky(signs, steadiness, flips):
    found = of(signs)
    assert (found.steadiness, found.flips) == (steadiness, flips)


def test_passed_18_of_the_last_20_flaky_since_the_first_flip():
    found = of("+" * 15 + "-" + "+" * 8 + "-" + "+" * 5)
    assert (found.passed, found.runs, found.flips) == (18, 20, 4)
    assert found.since == START + timedelta(days=15)
    low, high = found.interval
    assert 0.69 < low < 0.70
    assert 0.97 < high < 0.98


def test_a_scenario_flaky_long_ago_is_not_flaky_now():
    assert of("+-+-+" + "+" * WINDOW).steadiness == "steady"


@pytest.mark.parametrize("word", ["e", "m", "n"])
def test_a_run_that_was_not_evaluable_is_not_a_flip(word):
    assert of(f"++{word}++{word}+") == of("+++++")


@pytest.mark.parametrize(
    ("signs", "is_new"),
    [
        ("+" * WINDOW + "+" * 17 + "-++", True),
        ("++++" + "+-+-", True),
        ("++++" + "-+++", True),
        ("+-+-" + "+-+-", False),
        ("+-+" * 10 + "+" * 10 + "-" + "+" * 9, False),
        ("+-+-", False),
        ("++-+", False),
        ("++++" + "----", False),
    ],
)
def test_newly_flaky__was_not_flaky_in_as_many_earlier_runs(signs, is_new):
    assert of(signs).is_new is is_new


def test_the_same_trace_judged_again_is_not_a_new_outcome():
    assert of("+++++", "abcdd").runs == 4
    # Another rule, the same trace: the newer judgement counts, and there is no flip.
    assert of("+++-+", "abcdd").steadiness == "steady"
    assert of("+++-+", "abcde").steadiness == "flaky"


def test_traces_without_a_fingerprint_are_each_counted():
    assert of("++++", [None] * 4).runs == 4


SIGNS = st.text("+-!emn", max_size=3 * WINDOW)


@given(SIGNS)
def test_invariants_of_any_history(signs):
    found = of(signs)
    learned = [sign for sign in signs if sign in "+-!"]
    assert found.runs == min(WINDOW, len(learned))
    assert 0 <= found.passed <= found.runs
    assert 0 <= found.flips <= found.runs
    assert (found.since is None) == (found.flips == 0)
    assert not found.is_new or found.steadiness == "flaky"
    assert (found.steadiness == "unknown") == (found.runs < MIN_RUNS)
    if found.runs:
        low, high = found.interval
        assert 0 <= low <= found.passed / found.runs <= high <= 1


@given(SIGNS)
def test_passes_and_failures_swapped_are_equally_stable(signs):
    swapped = signs.translate(str.maketrans({"+": "-", "-": "+", "!": "+"}))
    there, back = of(signs), of(swapped)
    assert (there.flips, there.steadiness, there.is_new) == (back.flips, back.steadiness, back.is_new)


@given(SIGNS, st.sampled_from(["PASS", "FAIL", "MISSING"]))
def test_adding_runs_one_at_a_time_gives_the_same_result(signs, verdict):
    sign = {"PASS": "+", "FAIL": "-", "MISSING": "m"}[verdict]
    at = START + timedelta(days=len(signs))
    assert add_outcome(collect_outcomes(KEY, make_history(signs)), verdict, at) == collect_outcomes(
        KEY, make_history(signs + sign)
    )
