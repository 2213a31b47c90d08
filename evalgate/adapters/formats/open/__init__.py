"""From a path to records: format detection, files opened, unpacked, split into lines and batches.

Entry points: `detect.FORMATS`, `TraceFiles`, `TraceFile`, `BatchedTraces`.
"""
