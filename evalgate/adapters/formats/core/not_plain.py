"""Defines the exception of the quick readers, which read only plain traces."""

from __future__ import annotations


class NotPlain(Exception):
    """The trace is not plain; the careful reader has to read it."""
