"""Readers and writers of trace formats; each format is a package that reads into `models.trace`.

Entry points: `open.TraceFiles`, `core.format.Format`, `writers.convert_traces`.
"""
