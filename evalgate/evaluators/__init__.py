"""Evaluators: one class per type, with its settings as frozen data, compiled into a function on a trace.

Entry points: `core.parse.Parser`, `core.evaluator.Evaluator`, `core.assertion.Assertion`, `base`, `kinds`.
"""
