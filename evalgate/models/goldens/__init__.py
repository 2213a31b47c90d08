"""Regression suites, feedback and exported evaluations of goldens.

`regression_suite.RegressionSuite`, `feedback.Feedback`, `exported_evaluation.ExportedEvaluation`.
"""
