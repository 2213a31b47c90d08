"""Runs and histories of scenarios in a store: `stored_run.StoredRun`, `stability.Stability`."""
