"""Builds the trace of a trial from its exchanges with model providers.

Not a format of files: `record` writes native traces. Entry points: `trace.build_trace`, `threads.find_threads`.
"""
