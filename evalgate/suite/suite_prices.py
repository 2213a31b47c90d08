"""The `prices` of a suite and its project, which add to the built-in price list and override it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.measures.prices import Rates
from evalgate.measures.text.globs import matches_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.suite.schema.suite_file import PriceEntry


class SuitePrices(Struct, frozen=True):
    """Prices by model, the nearest first; None means that a model's price stays unknown."""

    entries: Sequence[tuple[str, Rates | None]] = ()

    def find(self, model: str) -> tuple[bool, Rates | None]:
        """Whether an entry matches the model, and its rates."""
        found = next((entry for entry in self.entries if matches_id(entry[0], model)), None)
        return (False, None) if found is None else (True, found[1])

    @property
    def label(self) -> str | None:
        """A name that changes with the prices; None without any."""
        if not self.entries:
            return None
        return f"prices {hashlib.sha256(repr(list(self.entries)).encode()).hexdigest()[:12]}"


def merge_prices(*tables: Mapping[str, PriceEntry | None]) -> SuitePrices:
    """Merges the prices of several files; the first that names a model wins."""
    return SuitePrices([(model, _build_rates(entry)) for table in tables for model, entry in table.items()])


def _build_rates(entry: PriceEntry | None) -> Rates | None:
    """Cached tokens cost the same as others unless the entry sets a price."""
    if entry is None:
        return None
    cache_prices: Any = (entry.cache_read, entry.cache_write)
    read, write = (entry.input if each is None else each for each in cache_prices)
    return Rates(entry.input, entry.output, read, write)
