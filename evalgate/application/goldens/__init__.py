"""Goldens and regression suites in the store.

Entry points: `stored_goldens`, `golden_import`, `golden_from_trace`, `evaluation_export`.
"""
