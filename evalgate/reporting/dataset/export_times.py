"""Formats times for exports: UTC, RFC 3339, with fractions of a second only if there are any."""

from __future__ import annotations

from datetime import UTC, datetime


def format_time(moment: datetime) -> str:
    """Formats a time as `2025-12-31T22:40:49Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def format_file_time(moment: datetime) -> str:
    """Formats a time as `2025-12-31T22-40-49` for file names, which may not hold a colon."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%S")
