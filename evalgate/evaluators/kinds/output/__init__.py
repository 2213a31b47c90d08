"""Evaluators of one output: the answer, a tool result, a path.

Entry points: `output_source.Source`, `output_contains`, `output_json`, `convergence`.
"""
