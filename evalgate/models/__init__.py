"""The data of all layers above, as records without logic.

Entry points: `trace.trace.Trace`, `run.run.Run`, `results.results.ResultsDoc`, `comparison`, `approvals`.
"""
