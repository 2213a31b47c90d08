"""Goldens as suites and files write them. Entry points: `goldens.Goldens`, `golden_file`, `golden_rules`."""
