"""Suites as items of pytest, a fixture that records and checks agents, and assertions on traces for plain tests.

Entry points: `plugin.SuitePlugin`, `judging.SessionJudge`.
"""
