"""Goldens of a suite. Entry points: `goldens.GoldenScenarioBuilder`, `golden_rules`, `golden_written`."""
