"""Moments as GitHub writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def moment(seconds: float = 0) -> str:
    """So many seconds from now."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
