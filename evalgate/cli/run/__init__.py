"""The verbs that judge or look at finished runs.

`run`, `merge`, `validate`, `baseline`, `compare`, `backtest`, `explain`.
"""
