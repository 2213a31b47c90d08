"""Verbs: `migrate`."""
