"""Reads tokens, cost, latency and scores of a trace.

Entry points: `usage_fields.read_provider_usage`, `provider_response.read_provider_response`,
`totals.sum_call_usages`.
"""
