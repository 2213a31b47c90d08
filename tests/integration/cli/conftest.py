"""What tests of verbs over a store begin with."""

from store_verbs import verbs

__all__ = ["verbs"]
