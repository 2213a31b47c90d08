"""Tables of the fields in which recorders write numbers of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldTable, count
from evalgate.adapters.formats.core.usage import total_tokens
from evalgate.models.trace.trace import unknown_usage

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.fields import Read
    from evalgate.models.trace.trace import Usage


class TokenTable:
    """The field, or the reader and fields as in a FieldTable, of each number in `Usage`.

    With `is_cache_apart` the recorded input leaves out cached tokens, which are added to it. A total that is not
    recorded is the sum of input and output.

    >>> TokenTable(input_tokens="in", output_tokens="out").read({"in": 2, "out": 1}, "usage")["total_tokens"]
    3
    """

    def __init__(self, *, is_cache_apart: bool = False, **fields: str | tuple[Read, *tuple[str, ...]]) -> None:
        self._is_cache_apart = is_cache_apart
        self._fields = FieldTable(
            **{name: (count, field) if isinstance(field, str) else field for name, field in fields.items()}
        )

    def read(self, value: Any, path: str) -> Usage:
        """The recorded tokens; raises FieldError."""
        usage: Usage = {**unknown_usage(), **self._fields.read(value, path), "source": "recorded_total"}
        if self._is_cache_apart:
            add_cached_input(usage)
        if usage["total_tokens"] is None:
            usage["total_tokens"] = total_tokens(usage)
        return usage

    def read_if_counted(self, value: Any, path: str) -> Usage | None:
        """The recorded tokens; None without a number above 0, as many recorders write 0 for tokens not counted."""
        usage = self.read(value, path)
        return usage if usage["input_tokens"] or usage["output_tokens"] or usage["total_tokens"] else None


def add_cached_input(usage: Usage) -> None:
    """Adds cached tokens, which were counted apart, to the input."""
    if usage["input_tokens"] is not None:
        usage["input_tokens"] += (usage["cache_read_input_tokens"] or 0) + (usage["cache_write_input_tokens"] or 0)
