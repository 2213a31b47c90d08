"""Collects the fields and parts of a record that its reader does not know and that may hold calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.content import may_hold_calls
from evalgate.adapters.formats.core.strict_json import make_printable

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from evalgate.models.trace.trace import Trace

MAX_NAMED = 5
MAX_KEY = 60


class UnknownParts:
    """The unknown fields and parts of one record, by path."""

    def __init__(self, advice: str) -> None:
        self._advice = advice
        self._paths: list[str] = []

    def add(self, path: str, name: Any) -> None:
        """Adds a part of unknown type."""
        self._paths.append(f"{path}.{make_printable(str(name)[:MAX_KEY])}".removeprefix("."))

    def check_fields(self, value: dict[str, Any], known: AbstractSet[str], path: str) -> None:
        """Adds every unknown field whose value may hold a call."""
        for key in value.keys() - known if not value.keys() <= known else ():
            if value[key] and may_hold_calls(value[key]):
                self.add(path, key)

    def note_gap(self, trace: Trace) -> None:
        """Makes the evidence of calls incomplete if anything is unknown."""
        if self._paths:
            named = ", ".join(f"`{path}`" for path in sorted(self._paths)[:MAX_NAMED])
            add_gap(trace, "calls", f"{named} may hold calls in a form that is not read: {self._advice}")
