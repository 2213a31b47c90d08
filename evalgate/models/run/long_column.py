"""A column of figures that may outgrow memory: older ones are in a spool."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.run.spool import Spool

PAGE = 1 << 10
"""Figures that are read back together: neighbours are mostly requested together."""


class LongColumn:
    """Figures by index; those in `recent` are still in memory, and new ones are added there."""

    __slots__ = ("_at", "_spool", "_spooled", "_starts", "_values", "recent")

    def __init__(self, spool: Spool, code: str) -> None:
        self.recent: array[Any] = array(code)
        self._spool, self._spooled = spool, 0
        self._starts: list[int] = []  # of every page in the spool
        self._at, self._values = -1, self.recent  # the page that was read last

    def __getitem__(self, place: int) -> Any:
        if place >= self._spooled:
            return self.recent[place - self._spooled]
        page, rest = divmod(place, PAGE)
        return self._page(page)[rest]

    def get_many(self, places: Sequence[int]) -> Iterable[Any]:
        """The figures at some indexes."""
        if not places:
            return ()
        if isinstance(places, range) and places.step == 1:
            return self._get_range(places.start, places.stop)
        return map(self.__getitem__ if self._spooled else self.recent.__getitem__, places)

    def spill(self) -> None:
        """Moves all full pages of figures to the spool."""
        pages = len(self.recent) // PAGE
        count, size = pages * PAGE, PAGE * self.recent.itemsize
        start = self._spool.put(self.recent[:count].tobytes())
        self._starts += range(start, start + pages * size, size)
        self._spooled += count
        del self.recent[:count]

    def arrange(self, order: Sequence[int]) -> None:
        """Reorders the figures, given their indexes in the new order; afterwards all are in memory."""
        code = self.recent.typecode
        figures = array(code, self._get_range(0, len(order))) if self._spooled else self.recent
        self.recent = array(code, map(figures.__getitem__, order))
        self._spooled, self._at = 0, -1
        self._starts.clear()

    def _get_range(self, start: int, end: int) -> Iterable[Any]:
        if start >= self._spooled:
            return self.recent[start - self._spooled : end - self._spooled]
        return chain.from_iterable(self._pages(start, end))

    def _pages(self, start: int, end: int) -> Iterator[array[Any]]:
        for first in range(start // PAGE * PAGE, min(end, self._spooled), PAGE):
            yield self._page(first // PAGE)[max(start - first, 0) : end - first]
        yield self.recent[: max(end - self._spooled, 0)]

    def _page(self, page: int) -> array[Any]:
        if page != self._at:
            values: array[Any] = array(self.recent.typecode)
            values.frombytes(self._spool.get(self._starts[page], PAGE * values.itemsize))
            self._at, self._values = page, values
        return self._values
