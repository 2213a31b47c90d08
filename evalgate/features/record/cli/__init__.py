"""The verbs `record` and `cassettes`."""
