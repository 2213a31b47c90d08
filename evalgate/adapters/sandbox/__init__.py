"""Runs the judge in a separate process, as it reads hostile files: its limits, its user, its exit status."""
