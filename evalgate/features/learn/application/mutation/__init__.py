"""Finds what suites would not notice: makes small changes to passing traces and judges them again.

Entry points: `score.MutationRun`, `operators.OPERATORS`.
"""
