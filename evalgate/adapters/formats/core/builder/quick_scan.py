"""Lets the quick readers refuse what the careful reader would search for calls, so that both find the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.unread_calls import CallScan, is_tool_name_key
from evalgate.adapters.formats.core.not_plain import NotPlain

if TYPE_CHECKING:
    from collections.abc import Collection

NOTHING: frozenset[str] = frozenset()


def require_no_calls(document: dict[str, Any], called: Collection[str]) -> None:
    """Raises NotPlain or FieldError if the fields next to the messages may hold a call that is not in `called`."""
    scan = CallScan(frozenset(called), NOTHING)
    scan.search({name: value for name, value in document.items() if name != "messages"})
    if scan.incomplete:
        raise NotPlain


def may_name_tools(metadata: dict[str, Any]) -> bool:
    """True if free data has to be searched: it is nested, or has a field called like a tool's name."""
    return any(map(is_tool_name_key, metadata)) or dict in map(type, metadata.values())


def require_plain_names(called: Collection[str], reason: str | None) -> None:
    """Raises NotPlain if a name may be JSON, or if the model asked for tools and no call is known."""
    if reason == "tool_calls" and not called:
        raise NotPlain
    names = "".join(called)
    if "{" in names or "[" in names:
        raise NotPlain
