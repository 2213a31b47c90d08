"""Pure algorithms on values: queries, patterns, sequences, numbers, text, redaction."""
