"""Evaluations and goldens as data sets: JSON lines, CSV, metrics.

Entry points: `encode_evaluations`, `encode_evaluation_csv`, `compute_metrics`, `build_golden_document`.
"""
