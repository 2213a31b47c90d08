"""Scores trials by assertions and scenarios by trials: weights, thresholds, verdicts. Pure rules.

Entry points: `trial.score_trial`, `scenario.judge_scenario`, `golden`, `run_statistics`, `wording`.
"""
