"""Judges golden conversations: eight dimensions, each by evidence in the trace; without any none passes."""
