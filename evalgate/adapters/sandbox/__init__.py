"""A process of its own for what reads hostile bytes: its bounds, its user, and how it ended."""
