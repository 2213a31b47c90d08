"""Evaluators of the whole run: queries, cost, latency, tokens, recorded scores.

Entry points: `jmespath`, `cost_and_latency`, `usage_limits`.
"""
