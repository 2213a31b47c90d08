"""Results of an evaluation.

Entry points: `run.Run`, `run.ScenarioResult`, `run.TrialResult`, `golden.Golden`, `run_statistics`.
"""
