"""Weights of dimensions, the overall score, its level and severity."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from evalgate.models.run.golden import DIMENSIONS
from evalgate.scoring.golden.rules import Weights, level, mean_over_turns, reaches, severity

SCORES = st.dictionaries(st.sampled_from(DIMENSIONS), st.one_of(st.none(), st.floats(0, 1)))


def test_weights__have_their_default_values():
    assert Weights() == (0.15, 0.20, 0.25, 0.15, 0.10, 0.10, 0.05)
    assert sum(Weights().dimension_weight(name) for name in DIMENSIONS) == pytest.approx(1.0)
    assert Weights().dimension_weight("memory_recall") == Weights().dimension_weight("memory_precision") == 0.10


@pytest.mark.parametrize("change", [0.05, -0.05, 2e-6])
def test_weights_that_do_not_sum_to_one__are_invalid(change):
    assert "sum to" in (Weights(tools=0.25 + change).problem or "")


def test_weights_within_a_millionth__are_valid():
    assert Weights().problem is None
    assert Weights(tools=0.25 + 5e-7).problem is None
    assert Weights(tools=1.25, identity=-0.85).problem == "weights must be from 0 to 1"


def test_mean_over_turns__can_be_weighted():
    assert mean_over_turns([1.0, None, 0.5]) == 0.75
    assert mean_over_turns([1.0, 0.0, 0.5], [2, 1, 1]) == 0.625
    assert mean_over_turns([None, None]) is mean_over_turns([1.0], [0.0]) is None


@pytest.mark.parametrize(("score", "passes"), [(0.88, True), (0.82, False), (0.85, True), (0.8499, False)])
def test_passing_score__is_reached_at_its_own_value(score, passes):
    assert reaches(score, 0.85) is passes


@pytest.mark.parametrize(
    ("score", "word"),
    [(0.98, "excellent"), (0.87, "good"), (0.76, "fair"), (0.62, "poor"), (0.50, "failing"),
     (0.95, "excellent"), (0.85, "good"), (0.75, "fair"), (0.60, "poor"), (0.0, "failing")],
)  # fmt: skip
def test_levels(score, word):
    assert level(score) == word


@pytest.mark.parametrize(
    ("score", "word"),
    [(1.0, None), (0.9, "info"), (0.85, "info"), (0.8, "warning"), (0.75, "warning"), (0.7, "error"),
     (0.0, "critical")],
)  # fmt: skip
def test_severity(score, word):
    assert severity("tool_success_rate", score) == word


@pytest.mark.parametrize("name", ["tone_adherence", "response_completeness"])
def test_tone_and_unknown_categories__are_never_critical(name):
    assert severity(name, 0.0) == "error"
