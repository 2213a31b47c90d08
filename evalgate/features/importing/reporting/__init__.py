"""Writes imported suites. Entry points: `suite_text`."""
