"""Fixtures of the verbs that use a store."""

from store_verbs import verbs

__all__ = ["verbs"]
