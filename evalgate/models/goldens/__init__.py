"""Regression suites, feedback and exported evaluations of goldens.

Entry points: `regression_suite.RegressionSuite`, `feedback.Feedback`, `exported_evaluation.ExportedEvaluation`.
"""
