"""Scores trials by assertions and scenarios by trials: weights, thresholds, verdicts. Pure rules.

Entry points: `scenario.score_trial`, `scenario.judge_scenario`, `golden`, `run_statistics`, `wording`.
"""
