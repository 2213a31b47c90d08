"""Collects what a coding agent is shown of a finished run."""
