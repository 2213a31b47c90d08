"""Finds the entries of a suite that a trace may match without asking each of them."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING

from evalgate.measures.jmespath.query import follow_path
from evalgate.models.trace.trace import Trace
from evalgate.models.trace.trace_view import get_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.trace.trace import DamagedTrace
    from evalgate.suite.models import Scenario


class EntryIndex:
    """Entries by their index in the suite, looked up by what their ids begin with, or by a `where` of `path == 'text'`.

    So the time of matching grows with scenarios plus traces, not with their product.
    """

    def __init__(self, scenarios: Sequence[Scenario], entries: Sequence[int]) -> None:
        self._rest: list[int] = []
        self._by_head: dict[str, list[int]] = {}
        self._equal: dict[tuple[str, ...], dict[str, list[int]]] = {}
        for entry in entries:
            match = scenarios[entry].match
            if match.scenario_id is not None:
                self._by_head.setdefault(match.scenario_id.partition("*")[0], []).append(entry)
            elif match.where is not None and match.where.equality is not None:
                equality = match.where.equality
                self._equal.setdefault(equality.path, {}).setdefault(equality.text, []).append(entry)
            else:
                self._rest.append(entry)
        self._lengths = sorted({len(head) for head in self._by_head})

    def find(self, record: Trace | DamagedTrace, scenario_id: str | None) -> Iterable[int]:
        """The entries that may match the record, in the suite's order.

        Each `where` is among them for a trace with incomplete evidence, on which it may be undecided.
        """
        return merge(self._rest, *self._find_by_head(scenario_id), *self._find_by_where(record))

    def _find_by_head(self, scenario_id: str | None) -> Iterator[Sequence[int]]:
        for length in self._lengths:
            if scenario_id is None or length > len(scenario_id):
                return
            yield self._by_head.get(scenario_id[:length], ())

    def _find_by_where(self, record: Trace | DamagedTrace) -> Iterator[Sequence[int]]:
        if not isinstance(record, Trace):
            return  # only id and file are known of a damaged record
        view = get_view(record)
        for path, texts in self._equal.items():
            if record.gaps:
                yield from texts.values()
            elif isinstance(value := follow_path(view, *path), str):
                yield texts.get(value, ())
