"""Verbs: `migrate`, `calibrate`."""
