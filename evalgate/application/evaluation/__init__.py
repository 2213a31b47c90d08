"""Judges every trace of every suite.

Entry points: `evaluate.evaluate`, `suite_evaluation.SuiteEvaluation`, `scenario_matcher.ScenarioMatcher`,
`suite_judge.SuiteJudge`.
"""
