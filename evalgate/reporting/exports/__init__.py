"""Documents for other programs."""
