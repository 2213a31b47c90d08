from __future__ import annotations

from itertools import combinations

import pytest

from evalgate.measures.numeric.estimates import pass_at_k, pass_hat_k

CASES = [(total, passed, k) for total in range(1, 7) for passed in range(total + 1) for k in range(1, total + 1)]


@pytest.mark.parametrize(("total", "passed", "k"), CASES)
def test_estimates_equal_the_share_of_all_draws(total, passed, k):
    draws = list(combinations([True] * passed + [False] * (total - passed), k))
    assert pass_at_k(total, passed, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat_k(total, passed, k) == pytest.approx(sum(map(all, draws)) / len(draws))


@pytest.mark.parametrize("k", [0, 5])
def test_estimates_without_enough_trials_are_unknown(k):
    assert pass_at_k(4, 2, k) is None
    assert pass_hat_k(4, 2, k) is None


def test_estimates_of_a_million_trials_are_quick_and_sane():
    assert pass_hat_k(1_000_000, 500_000, 4) == pytest.approx(0.0625, abs=1e-5)
    assert pass_at_k(1_000_000, 500_000, 4) == pytest.approx(0.9375, abs=1e-5)
