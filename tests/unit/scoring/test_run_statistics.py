from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_scenario_outcome

from evalgate.models.run.run_statistics import PassAtK
from evalgate.scoring.run_statistics import DELTA_FIELDS, compute_delta, compute_statistics

VERDICTS = st.sampled_from(["PASS", "PARTIAL", "FAIL", "HARD_FAIL", "MISSING"])
SCORES = st.lists(st.none() | st.sampled_from([0.0, 0.5, 0.8, 1.0]), max_size=5)


def pairs():
    side = st.builds(make_scenario_outcome, VERDICTS, SCORES)
    return st.lists(st.tuples(side, side), min_size=1, max_size=6)


def test_statistics_of_some_scenarios():
    found = compute_statistics(
        [
            make_scenario_outcome("PASS", [1.0, 0.9], costs=[0.1, 0.2], latencies=[1.0, 3.0], tokens=[10, 20]),
            make_scenario_outcome("FAIL", [0.2, 0.4], costs=[0.3, 0.4], latencies=[None, 2.0], tokens=[30, 40]),
            make_scenario_outcome("MISSING", []),
        ]
    )
    assert (found.scenarios, found.trials) == (3, 4)
    assert found.pass_rate == pytest.approx(1 / 3)
    assert found.pass_rate_interval == pytest.approx((0.0615, 0.7923), abs=1e-3)
    assert (found.score, found.score_min) == (pytest.approx((0.95 + 0.3) / 3), 0.0)
    assert (found.score_p50, found.score_p95) == (pytest.approx(0.3), 0.95)
    assert (found.cost_usd, found.cost_mean_usd) == (1.0, 0.25)
    assert (found.total_tokens, found.tokens_mean) == (100, 25.0)
    assert (found.latency_p50_s, found.latency_p95_s) == (2.0, 3.0)


def test_amount_missing_in_one_trial_is_unknown_and_never_0():
    found = compute_statistics([make_scenario_outcome("PASS", [1.0, 1.0], costs=[0.1, None], tokens=[None, 3])])
    assert (found.cost_usd, found.cost_mean_usd, found.total_tokens, found.tokens_mean) == (None,) * 4
    assert (found.latency_p50_s, found.latency_p95_s) == (None, None)


def test_no_scenarios_have_no_statistics():
    found = compute_statistics([])
    assert (found.scenarios, found.trials, found.pass_k) == (0, 0, [])
    assert {getattr(found, name) for name in DELTA_FIELDS} | {found.pass_rate_interval} == {None}
    assert compute_delta([], []) is None


def test_pass_k_is_the_mean_over_scenarios_up_to_the_fewest_trials():
    found = compute_statistics(
        [make_scenario_outcome("PASS", [1.0] * 4), make_scenario_outcome("PARTIAL", [1.0, 1.0, 0.0])]
    )
    assert found.pass_k == [
        PassAtK(1, pytest.approx(5 / 6), pytest.approx(5 / 6)),
        PassAtK(2, 1.0, pytest.approx((1 + 1 / 3) / 2)),
        PassAtK(3, 1.0, 0.5),
    ]


def test_scenario_without_a_trial_has_pass_k_0():
    found = compute_statistics([make_scenario_outcome("PASS", [1.0, 1.0]), make_scenario_outcome("MISSING", [])])
    assert found.pass_k == [PassAtK(1, 0.5, 0.5), PassAtK(2, 0.5, 0.5)]
    assert compute_statistics([make_scenario_outcome("MISSING", [])]).pass_k == []


def test_pass_k_of_many_trials_is_computed_for_a_few_k():
    found = compute_statistics([make_scenario_outcome("PASS", [1.0] * 20)])
    assert [each.k for each in found.pass_k] == [1, 2, 3, 4, 5, 8, 10, 16]


def test_deltas_are_run_minus_baseline():
    before = [make_scenario_outcome("PASS", [1.0, 1.0], costs=[0.1, 0.1], latencies=[1.0, 1.0], tokens=[5, 5])]
    now = [make_scenario_outcome("PARTIAL", [1.0, 0.0], costs=[0.2, 0.1], latencies=[2.0, 4.0], tokens=[5, None])]
    moves = compute_delta(before, now)
    assert moves.scenarios == 1
    assert dict(moves.deltas) == {
        "pass_rate": -1.0,
        "score": -0.5,
        "score_min": -0.5,
        "score_p50": -0.5,
        "score_p95": -0.5,
        "cost_usd": 0.1,
        "cost_mean_usd": 0.05,
        "total_tokens": None,
        "tokens_mean": None,
        "latency_p50_s": 1.0,
        "latency_p95_s": 3.0,
    }
    assert moves.pass_k == [PassAtK(1, -0.5, -0.5), PassAtK(2, 0.0, -1.0)]
    assert moves.pass_rate_interval[0] == -1.0
    assert moves.score_interval is None


def test_delta_of_many_scenarios_has_intervals():
    before = [make_scenario_outcome("PASS", [1.0]) for _ in range(20)]
    now = [make_scenario_outcome("FAIL", [0.5]) if place < 5 else before[place] for place in range(20)]
    moves = compute_delta(before, now)
    assert (moves.deltas["pass_rate"], moves.deltas["score"]) == (-0.25, -0.125)
    assert moves.pass_rate_interval == pytest.approx((-0.469, -0.042), abs=0.01)
    assert moves.score_interval == pytest.approx((-0.229, -0.021), abs=2e-3)


@given(pairs())
def test_run_against_itself_has_zero_deltas_and_swapped_sides_negate_them(found):
    before, now = map(list, zip(*found, strict=True))
    assert set(compute_delta(before, before).deltas.values()) <= {0.0, None}
    there, back = compute_delta(before, now), compute_delta(now, before)
    for name, move in there.deltas.items():
        assert back.deltas[name] == (None if move is None else -move)
    assert there.pass_rate_interval == tuple(-end for end in reversed(back.pass_rate_interval))


def test_scenario_without_a_verdict_because_of_an_outage_has_no_score_and_no_pass_rate():
    measured = make_scenario_outcome("PASS", [1.0, 0.9], costs=[0.1, 0.2], latencies=[1.0, 3.0], tokens=[10, 20])
    found = compute_statistics([measured, make_scenario_outcome("NOT_EVALUABLE", [], unmeasured=2)])
    alone = compute_statistics([measured])
    assert (found.scenarios, found.trials) == (2, 2)
    assert [getattr(found, name) for name in DELTA_FIELDS] == [getattr(alone, name) for name in DELTA_FIELDS]
    assert (found.pass_k, found.pass_rate_interval) == (alone.pass_k, alone.pass_rate_interval)


def test_trials_of_a_scenario_that_lacks_too_many_to_an_outage_still_count_in_the_amounts():
    found = compute_statistics([make_scenario_outcome("NOT_EVALUABLE", [1.0], costs=[0.1], unmeasured=2)])
    assert (found.scenarios, found.trials, found.score, found.cost_usd) == (1, 1, None, 0.1)
