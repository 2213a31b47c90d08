"""Limits a query to one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.store.schema.cleaning import clean_integer

if TYPE_CHECKING:
    from sqlalchemy import Select

    from evalgate.ports.store import Page


def paginate(query: Select[Any], page: Page) -> Select[Any]:
    """The query for the rows of a page; negative limits and offsets count as 0."""
    return query.limit(max(0, clean_integer(page.limit))).offset(max(0, clean_integer(page.offset)))
