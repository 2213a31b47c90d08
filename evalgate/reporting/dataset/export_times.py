"""Times in exports: UTC, RFC 3339, with fractions of a second only where there are any."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_text(moment: datetime) -> str:
    """`2025-12-31T22:40:49Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def file_stamp(moment: datetime) -> str:
    """`2025-12-31T22-40-49`: a time in the name of a file, where a colon may not be."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%S")
