"""Helpers that the rules of the gate share.

Entry points: `scenario_index`, `quarantine.apply_quarantines`, `wording`.
"""
