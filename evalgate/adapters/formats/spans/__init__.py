"""Builds traces from the spans of any tracer.

Entry points: `build_span_reader`, `assemble.build`, `dialects`.
"""
