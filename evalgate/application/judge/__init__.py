"""Turns a request into finished documents, without network, token or environment.

Entry points: `judge.judge`, `explain`, `backtest`, `compare_finished`.
"""
