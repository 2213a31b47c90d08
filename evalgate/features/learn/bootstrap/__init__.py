"""Connects `init` and `mutate` to the files of a project."""
