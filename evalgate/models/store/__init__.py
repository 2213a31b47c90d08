"""Runs and scenario history in a store: `stored_run.StoredRun`, `stability.Stability`."""
