"""Compares two arms, such as two models: `compare_in_suites` of a run, `compare_arms` of any two."""
