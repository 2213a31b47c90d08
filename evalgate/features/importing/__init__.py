"""Carries suites of other tools over. Entry points: `feature.IMPORTING`, `cli.import_suite`."""
