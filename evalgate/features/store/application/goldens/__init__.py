"""Stores, imports and exports goldens, evaluations and regression suites.

Entry points: `stored_goldens.upsert_goldens`, `golden_import.goldens_in`,
`golden_import.golden_from_trace`, `evaluation_export.collect_export`.
"""
