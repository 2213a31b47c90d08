"""The public documents of a run.

Entry points: `results.ResultsDoc`, `standings.StandingsDoc`, `document_names`.
"""
