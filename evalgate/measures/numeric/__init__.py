"""Means, percentiles, intervals and pass@k. Entry points: `means`, `estimates`."""
