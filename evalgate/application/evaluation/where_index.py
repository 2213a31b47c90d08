"""Finds the entries of a suite that a trace may match without asking each of their `where`."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING

from evalgate.measures.jmespath.query import follow_path
from evalgate.models.trace.trace import Trace
from evalgate.models.trace.trace_view import get_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.trace.trace import DamagedTrace
    from evalgate.suite.models import Scenario


class WhereIndex:
    """Entries by their index in the suite: those with a `where` of `path == 'text'` are looked up by the path's value.

    So the time of matching grows with scenarios plus traces, not with their product.
    """

    def __init__(self, scenarios: Sequence[Scenario], entries: Sequence[int]) -> None:
        self._entries = entries
        self._rest: list[int] = []
        self._equal: dict[tuple[str, ...], dict[str, list[int]]] = {}
        for entry in entries:
            where = scenarios[entry].match.where
            equality = where.equality if where else None
            if equality is None:
                self._rest.append(entry)
            else:
                self._equal.setdefault(equality.path, {}).setdefault(equality.text, []).append(entry)

    def find(self, record: Trace | DamagedTrace) -> Iterable[int]:
        """The entries that may match the record, in the suite's order.

        All of them for a trace with incomplete evidence, on which a `where` may be undecided.
        """
        if not self._equal or not isinstance(record, Trace) or record.gaps:
            return self._entries
        view = get_view(record)
        values = ((texts, follow_path(view, *path)) for path, texts in self._equal.items())
        return merge(self._rest, *(texts.get(value, ()) for texts, value in values if isinstance(value, str)))
