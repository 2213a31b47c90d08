"""Verbs: `migrate`, `calibrate`, `confirm`."""
