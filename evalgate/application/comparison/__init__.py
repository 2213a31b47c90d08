"""Compares a run with its baseline: which rules decide, and where they were weakened.

Entry points: `baseline.load_baseline`, `cross_scoring.make_cross_scorer`, `weakening.judge_weakening`,
`causes.add_causes`.
"""
