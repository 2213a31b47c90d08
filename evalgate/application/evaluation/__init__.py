"""Every trace of every suite judged.

Entry points: `evaluate`, `suite_evaluation.SuiteEvaluation`, `scenario_matcher.ScenarioMatcher`,
`trace_evaluation`.
"""
