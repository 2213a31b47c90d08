"""Told by those who read in one go what is plain, as nearly all recordings are."""

from __future__ import annotations


class NotPlain(Exception):
    """Something that has to be read with care."""
