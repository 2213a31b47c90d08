"""Rules of the gate: how a run differs from its baseline, and whether it may be merged. Pure rules.

Entry points: `decision.decide`, `comparison.compare`, `weakening.detect_weakening`, `trajectory`, `reach`.
"""
