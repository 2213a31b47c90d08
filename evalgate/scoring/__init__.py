"""Scores trials by assertions and scenarios by trials: weights, thresholds, verdicts. Pure rules."""
