"""EvalGate's own trace format, short as a person writes it or in full as the gate does."""
