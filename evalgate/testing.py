"""Assertions on traces for plain tests; the public name of `features.testing`."""

from evalgate.features.testing import assert_cost_below, assert_not_called, assert_tool_sequence

__all__ = ["assert_cost_below", "assert_not_called", "assert_tool_sequence"]
