"""Collects what the page shows of a finished run."""
