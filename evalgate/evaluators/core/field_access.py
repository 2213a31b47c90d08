"""Reads what a query finds in a trace; common fields are read directly, without building the view."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evalgate.models.trace.trace_view import METADATA, SECTIONS, view_of

if TYPE_CHECKING:
    from evalgate.measures.jmespath.query import Query
    from evalgate.models.trace.trace import Trace

Look = Callable[["Trace"], Any]

_PLAIN = frozenset({"usage", "cost", "latency"})
"""Sections of the view that are attributes of the trace, unchanged."""


def looking(query: Query) -> Look:
    """Builds a function that returns what the query finds in a trace; it raises QueryFailedError."""
    if len(query.path) == 2:  # noqa: PLR2004  (a section and its field)
        look = _at_field(*query.path)
        if look is not None:
            return look
    if len(query.path) == 3 and query.path[:2] == ("metadata", "custom"):  # noqa: PLR2004  (and its field)
        return _in_metadata(query.path[2])
    search = query.search
    return lambda trace: search(view_of(trace))


def answer_of(trace: Trace) -> str | None:
    """Returns the final answer."""
    return trace.response["content"]


def _at_field(section: str, name: str) -> Look | None:
    if section == "response" and name in {"content", "text"}:
        return answer_of
    if section == "metadata":
        return METADATA.get(name) or _in_metadata(name)
    if section in _PLAIN:
        read = SECTIONS[section]
        return lambda trace: read(trace).get(name)
    return None


def _in_metadata(name: str) -> Look:
    return lambda trace: trace.metadata.get(name)
