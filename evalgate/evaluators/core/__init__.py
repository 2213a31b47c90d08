"""What every evaluator uses: settings, compilation, registry, groups, negation.

Entry points: `evaluator.Evaluator`, `evaluator.Finding`, `assertion.Assertion`, `registry.KINDS`,
`parse.Parser`.
"""
