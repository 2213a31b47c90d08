"""Judges every trace of every suite.

Entry points: `evaluate`, `suite_evaluation.SuiteEvaluation`, `scenario_matcher.ScenarioMatcher`,
`trace_evaluation`.
"""
