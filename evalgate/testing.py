"""Assertions on traces for plain tests; their public place."""

from evalgate.features.testing.assertions import assert_cost_below, assert_not_called, assert_tool_sequence

__all__ = ["assert_cost_below", "assert_not_called", "assert_tool_sequence"]
