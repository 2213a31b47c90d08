"""The public documents of a run.

Entry points: `results.ResultsDoc`, `baseline_run.BaselineRun`, `document_names`.
"""
