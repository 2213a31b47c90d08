"""Which names a suite can have."""
