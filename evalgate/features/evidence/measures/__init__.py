"""Estimates: `alarm_rates`."""
