"""A column of figures that may grow beyond memory: the older ones stand on a shelf."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.models.shelf import Shelf

MOST = 1 << 17
"""Figures that stay in memory."""
PAGE = 1 << 10
"""Figures that are read back at once: neighbours are mostly asked for together."""


class LongColumn:
    """Figures by their place; those in `recent` are still in memory, and more are added there."""

    __slots__ = ("_aside", "_page", "_shelf", "_starts", "_values", "recent")

    def __init__(self, shelf: Shelf, code: str) -> None:
        self.recent: array[Any] = array(code)
        self._shelf, self._aside = shelf, 0
        self._starts: list[int] = []  # of every page on the shelf
        self._page, self._values = -1, self.recent

    def __getitem__(self, place: int) -> Any:
        if place >= self._aside:
            return self.recent[place - self._aside]
        page, rest = divmod(place, PAGE)
        if page != self._page:
            self._page, self._values = page, self._read(self._starts[page])
        return self._values[rest]

    def at(self, places: Iterable[int]) -> Iterator[Any]:
        """The figures of some places."""
        return map(self.__getitem__ if self._aside else self.recent.__getitem__, places)

    def set_aside(self, count: int) -> None:
        """Puts whole pages of the oldest `count` figures on the shelf."""
        pages = count // PAGE
        whole = pages * PAGE
        size = self.recent.itemsize * PAGE
        start = self._shelf.put(self.recent[:whole].tobytes())
        self._starts += range(start, start + pages * size, size)
        self._aside += whole
        del self.recent[:whole]

    def _read(self, start: int) -> array[Any]:
        values: array[Any] = array(self.recent.typecode)
        values.frombytes(self._shelf.get(start, self.recent.itemsize * PAGE))
        return values
