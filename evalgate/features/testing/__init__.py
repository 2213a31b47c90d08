"""Suites as items of pytest, a fixture that records and checks agents, and assertions on traces for plain tests.

Entry points: `assert_tool_sequence`, `assert_not_called`, `assert_cost_below`, `plugin.SuitePlugin`, `fixture.Agent`.
"""

from evalgate.features.testing.assertions import assert_cost_below, assert_not_called, assert_tool_sequence

__all__ = ["assert_cost_below", "assert_not_called", "assert_tool_sequence"]
