"""Anybody's JSON, read by the expressions of a suite."""
