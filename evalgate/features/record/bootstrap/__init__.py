"""Connects recorder, cassettes and readers to the verbs."""
