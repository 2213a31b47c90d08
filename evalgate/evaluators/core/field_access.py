"""Reads what a query finds in a trace; common fields are read directly, without building the view."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evalgate.models.trace.trace_view import METADATA, SECTIONS, get_view

if TYPE_CHECKING:
    from evalgate.measures.jmespath.query import Query
    from evalgate.models.trace.trace import Trace

FieldGetter = Callable[["Trace"], Any]

_RAW_SECTIONS = frozenset({"usage", "cost", "latency"})
"""Sections of the view that are attributes of the trace, unchanged."""


def build_getter(query: Query) -> FieldGetter:
    """Builds a function that returns what the query finds in a trace; it raises QueryFailedError."""
    if len(query.path) == 2:  # noqa: PLR2004  (a section and its field)
        getter = _build_section_getter(*query.path)
        if getter is not None:
            return getter
    if len(query.path) == 3 and query.path[:2] == ("metadata", "custom"):  # noqa: PLR2004  (and its field)
        return _build_metadata_getter(query.path[2])
    search = query.search
    return lambda trace: search(get_view(trace))


def answer_of(trace: Trace) -> str | None:
    """Returns the final answer."""
    return trace.response["content"]


def _build_section_getter(section: str, name: str) -> FieldGetter | None:
    if section == "response" and name in {"content", "text"}:
        return answer_of
    if section == "metadata":
        return METADATA.get(name) or _build_metadata_getter(name)
    if section in _RAW_SECTIONS:
        read = SECTIONS[section]
        return lambda trace: read(trace).get(name)
    return None


def _build_metadata_getter(name: str) -> FieldGetter:
    return lambda trace: trace.metadata.get(name)
