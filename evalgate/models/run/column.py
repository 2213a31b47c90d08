"""Views of a figure of some trials on the column of all trials."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import isnan
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.run.long_column import LongColumn

UNKNOWN = -(2**63)
"""The unknown value in a column of integers; in columns of floats it is NaN."""
_AT_ONCE = 10_000

Number = TypeVar("Number", int, float)


class Column(Sequence[Any]):
    """One figure of some trials, without copying the store's values; None is unknown."""

    __slots__ = ("_places", "_values")

    def __init__(self, values: LongColumn, places: Sequence[int]) -> None:
        self._values, self._places = values, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Column: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Column(self._values, self._places[index])
        return figure(self._values[self._places[index]])

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(map(self._block, range(0, len(self._places), _AT_ONCE)))

    def _block(self, start: int) -> list[Any]:
        """The next block of values: small enough to copy, large enough to be fast."""
        values = list(self._values.get_many(self._places[start : start + _AT_ONCE]))
        all_known = not isnan(sum(values)) if type(values[0]) is float else min(values) != UNKNOWN
        return values if all_known else list(map(figure, values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return id(self)


def figure(value: Number) -> Number | None:
    """The figure for a value of a column; None if unknown."""
    return value if value == value and value != UNKNOWN else None  # noqa: PLR0124  (NaN is not)
