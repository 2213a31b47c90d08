"""Use cases: `migrate`."""
