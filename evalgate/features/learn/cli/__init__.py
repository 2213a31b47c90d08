"""The verbs `init` and `mutate`."""
