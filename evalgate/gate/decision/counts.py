"""Whether the counts of a run add up, for documents and answers that another process wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SUMS = {
    "scenarios": ("passed", "partial", "failed", "hard_fails", "errors", "missing", "not_evaluable"),
    "regressions": ("regressed", "broken"),
    "improvements": ("improved", "fixed"),
}
"""Counts of `summary` that are the sum of others."""
PARTS = ("quarantined",)
"""Counts of `summary` that are at most the number of scenarios; absent if 0."""


def find_wrong_count(summary: Mapping[str, Any]) -> str | None:
    """Names the first count that is not the sum of its parts; None if all are right."""
    for total, parts in SUMS.items():
        if summary[total] != sum(summary[part] for part in parts):
            return f"`{total}` is not the sum of {', '.join(parts)}"
    for part in PARTS:
        if summary.get(part, 0) > summary["scenarios"]:
            return f"`{part}` is more than `scenarios`"
    return None
