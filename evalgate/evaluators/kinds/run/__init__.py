"""Evaluators of the whole run: queries, cost, latency, tokens, recorded scores.

Entry points: `jmespath`, `limits`, `recorded_score`.
"""
