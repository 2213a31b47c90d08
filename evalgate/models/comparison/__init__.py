"""Comparison of a run with its baseline, and the decision of the gate.

Entry points: `comparison.Comparison`, `decision.Decision`, `baseline_run.BaselineRun`, `weakening.Weakening`.
"""
