"""Reads traces from paths: opens and unpacks files, detects formats, splits lines, makes batches.

Entry points: `detect.FORMATS`, `TraceFiles`, `TraceFile`, `BatchedTraces`.
"""
