"""Assertions make a trial, trials make a scenario: weights, thresholds and verdicts. Pure rules."""
