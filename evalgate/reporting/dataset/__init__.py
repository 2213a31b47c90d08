"""Evaluations and goldens as data sets: JSON lines, CSV, metrics.

Entry points: `evaluation_jsonl`, `evaluation_csv`, `metrics`, `golden_document`.
"""
