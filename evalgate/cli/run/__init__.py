"""The verbs that judge traces or read finished runs.

Entry points: `run`, `merge`, `validate`, `compare`, `backtest`, `explain`.
"""
