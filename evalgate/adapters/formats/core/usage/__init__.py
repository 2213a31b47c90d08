"""Reads tokens, cost, latency and scores of a trace.

Entry points: `usage_fields`, `provider_response`, `totals`.
"""
