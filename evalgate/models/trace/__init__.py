"""The canonical trace.

Entry points: `trace.Trace`, `trace.ToolCall`, `trace_view.get_view`, `trace_document.encode_trace`.
"""
