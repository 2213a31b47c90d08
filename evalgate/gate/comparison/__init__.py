"""A run against its baseline, scenario by scenario, with the statistics that bear a change out.

Entry points: `compare.compare`, `trial_tests`, `freshness`, `run_statistics`.
"""
