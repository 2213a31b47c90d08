"""Tokens, cost, latency and scores of a trace, and whether they are plausible.

Entry points: `usage_fields`, `provider_response`, `llm_calls`, `plausibility`.
"""
