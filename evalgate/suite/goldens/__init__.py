"""Goldens of a suite.

Entry points: `goldens.GoldenScenarioBuilder`, `golden_rules.build_rules`, `golden_written.encode_golden`.
"""
