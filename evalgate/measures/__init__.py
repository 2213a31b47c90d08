"""Pure algorithms: queries, patterns, sequences, numbers, text. They know values, not traces or suites."""
