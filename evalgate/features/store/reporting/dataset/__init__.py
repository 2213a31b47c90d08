"""Evaluations and goldens as data sets: JSON lines, CSV, metrics.

Entry points: `evaluation_jsonl.encode_evaluations`, `evaluation_csv.encode_evaluation_csv`,
`metrics.compute_metrics`, `golden_document.build_golden_document`.
"""
