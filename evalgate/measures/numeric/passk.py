"""pass@k and pass^k, estimated from n recorded trials of which some passed."""

from __future__ import annotations


def pass_at_k(total: int, passed: int, k: int) -> float | None:
    """Chance that at least one of k trials passes; None with fewer than k trials.

    1 - C(n-c, k) / C(n, k): M. Chen et al., "Evaluating large language models trained on code" (2021).
    """
    failing = _chance_all_marked(total, total - passed, k)
    return None if failing is None else 1.0 - failing


def pass_hat_k(total: int, passed: int, k: int) -> float | None:
    """Chance that all of k trials pass (pass^k); None with fewer than k trials.

    C(c, k) / C(n, k): S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction" (2024).
    """
    return _chance_all_marked(total, passed, k)


def _chance_all_marked(total: int, marked: int, k: int) -> float | None:
    """Chance that k of `total`, drawn without replacement, are all among the `marked`."""
    if not 1 <= k <= total:
        return None
    if k > marked:
        return 0.0
    chance = 1.0
    for drawn in range(k):
        chance *= (marked - drawn) / (total - drawn)
    return chance
