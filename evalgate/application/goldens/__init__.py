"""Stores, imports and exports goldens, evaluations and regression suites.

Entry points: `stored_goldens`, `golden_import`, `golden_from_trace`, `evaluation_export`.
"""
