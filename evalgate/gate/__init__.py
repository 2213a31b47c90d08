"""Rules of the gate: how a run differs from its baseline, and whether it may be merged. Pure rules."""
