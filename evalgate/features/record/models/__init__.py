"""What is recorded of an agent: its requests to model providers with their answers, and the trial they belong to.

Entry points: `exchange.Exchange`, `exchange.TrialId`.
"""
