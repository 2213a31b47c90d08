"""Warns about unknown fields, once each, with the known field that was probably meant."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.strict_json import make_printable

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Warning_

MAX_WARNINGS = 20
CHECKED_CHARS = 3_000
"""Characters of a name that are kept: more than are shown, so that redaction sees a secret as a whole."""


class UnknownFields:
    """Collects unknown fields while a trace is read; a field of a hundred messages is one warning."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], frozenset[str]] = {}

    def check(self, where: str, recorded: dict[str, Any], known: frozenset[str]) -> None:
        """Notes the unknown fields of an object; `where` is its kind (`messages[]`), empty for the trace itself."""
        if not known.issuperset(recorded):
            for name in sorted(recorded.keys() - known):
                self.add(where, name, known)

    def add(self, where: str, name: str, known: frozenset[str]) -> None:
        """Notes one field."""
        if len(self.found) < MAX_WARNINGS:
            self.found.setdefault((where, name), known)

    def list_warnings(self) -> list[Warning_]:
        """One warning a field."""
        return [
            {
                "code": "unknown_field",
                "message": _format_message(name[:CHECKED_CHARS], known),
                "where": where or None,
            }
            for (where, name), known in self.found.items()
        ]


@lru_cache(maxsize=1_024)
def _format_message(name: str, known: frozenset[str]) -> str:
    """The warning's text; cached, as it is slow to find and the same in every trace of a file."""
    import difflib

    close = difflib.get_close_matches(name[:100], sorted(known), n=1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    return f"the field `{make_printable(name)}` is unknown{hint}"
