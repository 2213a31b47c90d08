"""Use cases: functions that work through ports."""
