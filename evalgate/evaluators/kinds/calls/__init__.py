"""Evaluators of tool calls.

Entry points: `tool_sequence`, `tool_counts`, `tool_arguments`, `expected_tool`, `call_matcher.CallMatcher`.
"""
