"""A run compared with its baseline: whose rules decide, and what they demand less.

Entry points: `baseline`, `cross_scoring`, `weakening`, `causes`.
"""
