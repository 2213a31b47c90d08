"""Pure algorithms on values: queries, patterns, sequences, numbers, text, redaction.

Entry points: `jmespath.query.Query`, `text.patterns.Pattern`, `sequences`, `numeric`, `redaction.redact`, `values`.
"""
