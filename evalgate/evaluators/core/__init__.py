"""What every evaluator uses: settings, compilation, registry, groups, negation.

Entry points: `evaluator.Evaluator`, `evaluator.Finding`, `assertion.Assertion`,
`registry.BUILT_IN_TYPES`, `parse.Parser`.
"""
