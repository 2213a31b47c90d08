"""How a run differs from its baseline, and what was decided.

Entry points: `comparison.Comparison`, `decision.Decision`, `baseline_run.BaselineRun`, `weakening.Weakening`.
"""
