"""Evaluators of tool calls.

Entry points: `tool_counts`, `tool_sequence`, `scheduling`, `each_call`, `trajectory`, `call_matcher.CallMatcher`.
"""
