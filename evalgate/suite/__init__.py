"""Suites as parsed: scenarios, their assertions, the policy. Pure data with the places it came from."""
