"""Goldens in a store.

`regression_suite.RegressionSuite`, `feedback.Feedback`, `exported_evaluation.Exported`.
"""
