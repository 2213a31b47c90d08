"""Metadata and constraints that the tables share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import CheckConstraint, MetaData

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

METADATA = MetaData()


def require_one_of(column: str, words: Iterable[str], name: str) -> CheckConstraint:
    """The constraint that a column holds one of the words, or NULL."""
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=name)


def require_scores(prefix: str, names: Sequence[str]) -> list[CheckConstraint]:
    """The constraints that columns hold scores from 0 to 1, or NULL."""
    return [
        CheckConstraint(f"{name} >= 0 AND {name} <= 1", name=f"{prefix}_{name}_is_0_to_1") for name in names
    ]
