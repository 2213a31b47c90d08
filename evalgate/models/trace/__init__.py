"""The canonical trace.

Entry points: `trace.Trace`, `trace.ToolCall`, `trace_view.view_of`, `trace_document.to_document`.
"""
