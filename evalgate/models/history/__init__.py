"""Runs and histories of scenarios in a store.

Entry points: `stored_run.StoredRun`, `stability.Stability`.
"""
