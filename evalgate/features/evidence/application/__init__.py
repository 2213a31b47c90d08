"""Use cases: `migrate`, `calibrate`."""
