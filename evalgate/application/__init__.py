"""The use cases, each a function over ports."""
