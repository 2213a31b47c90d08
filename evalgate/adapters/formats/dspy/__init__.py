"""The history of `dspy.LM`: one entry for each model call. Entry points: `DSPY`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

LOOK_AT = 20
ENTRY = frozenset({"prompt", "messages", "kwargs", "outputs"})
HISTORY = "history"


def is_entry(value: Any) -> bool:
    """True for an entry of the history."""
    return isinstance(value, dict) and value.keys() >= ENTRY


def is_history(value: Any) -> bool:
    """True for an object that holds the history of one run."""
    return isinstance(value, dict) and isinstance(value.get(HISTORY), list) and any(map(is_entry, value[HISTORY]))


def _claims_dspy(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return any(is_entry(each) or is_history(each) for each in values[:LOOK_AT])


DSPY = Format(
    name="dspy",
    needs="entries with `prompt`, `messages`, `kwargs` and `outputs`",
    claims=_claims_dspy,
    module="dspy.reader",
    joins_lines=True,
)
