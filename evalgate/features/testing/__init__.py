"""Suites as items of pytest, a fixture that records and checks agents, and assertions on traces for plain tests.

Entry points: `assertions.assert_tool_sequence`, `assertions.assert_not_called`, `plugin.SuitePlugin`, `fixture.Agent`.
"""
