"""Evaluators: one class per type, with its settings as frozen data, compiled into a function on a trace."""
