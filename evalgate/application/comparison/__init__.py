"""Compares a run with its baseline: whose rules decide, and where they were weakened.

Entry points: `baseline`, `cross_scoring`, `weakening`, `causes`.
"""
