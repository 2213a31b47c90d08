"""Comparison of a run with its baseline, and the decision of the gate.

Entry points: `comparison.Comparison`, `decision.Decision`, `weakening.Weakening`.
"""
