"""What a run means: how it differs from the baseline, and whether that may be merged. Pure rules."""
