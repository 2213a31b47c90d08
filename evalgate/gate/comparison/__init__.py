"""Compares a run with its baseline, scenario by scenario, with statistical tests of each change.

Entry points: `compare.compare`, `trial_tests`, `freshness`, `outcomes`.
"""
