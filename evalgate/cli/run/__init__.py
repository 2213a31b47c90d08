"""The verbs that judge traces or read finished runs.

`run`, `merge`, `validate`, `baseline`, `compare`, `backtest`, `explain`.
"""
