"""Turns a request into finished documents, without network, token or environment.

Entry points: `judge.judge`, `compare_finished.explain`, `backtest.backtest`, `compare_finished.compare_finished`.
"""
