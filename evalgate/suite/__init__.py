"""Suites as parsed: scenarios, their assertions, the policy. Pure data with source locations."""
