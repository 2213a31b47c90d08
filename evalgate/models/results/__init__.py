"""The public documents of a run.

Entry points: `results.ResultsDoc`, `document_names`.
"""
