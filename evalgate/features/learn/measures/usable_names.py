"""The names of tools in a check that is written for somebody: which a suite can name, and which a check names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NAME = 512
"""Characters of a name in a suite."""
_TOOL_KEYS = frozenset({"tool", "tools", "sequence", "one_of", "not", "when", "then", "from", "to"})


def is_usable_name(name: str) -> bool:
    """Whether a suite can name this: it is no pattern, no secret, and not too long.

    >>> is_usable_name("get_order"), is_usable_name("get_*")
    (True, False)
    """
    return "*" not in name and len(name) <= MAX_NAME and redact(name) == name


def list_named_tools(check: Any) -> Iterator[str]:
    """The tools that a check, or a part of it, names: texts in lists, and those of the key `tool`.

    >>> list(list_named_tools({"not": {"sequence": ["a", {"tool": "b", "args": {"c": ["d"]}}]}}))
    ['a', 'b']
    """
    if isinstance(check, dict):
        for key, each in check.items():
            if key == "tool" and isinstance(each, str):
                yield each
            elif key in _TOOL_KEYS:
                yield from list_named_tools(each)
    elif isinstance(check, list):
        for each in check:
            yield from [each] if isinstance(each, str) else list_named_tools(each)
