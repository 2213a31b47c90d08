"""Helpers that the rules of the gate share.

Entry points: `scenarios.ScenarioIndex`, `scenarios.apply_quarantines`, `wording`.
"""
