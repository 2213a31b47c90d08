"""Spans of any tracer, and the run of an agent that they tell together."""
