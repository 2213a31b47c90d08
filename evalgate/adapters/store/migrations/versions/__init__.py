"""The steps, by their numbers."""
