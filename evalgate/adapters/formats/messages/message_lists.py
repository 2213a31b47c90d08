"""Reads lists of messages and parts one after the other; an error names the invalid entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import mapping, prefix_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evalgate.adapters.formats.core.builder.raw_message import RawMessage


def read_each(value: Any, read_one: Callable[[dict[str, Any]], Iterable[RawMessage]]) -> list[RawMessage]:
    """Reads a list of messages, or one message; raises FieldError naming the message."""
    messages: list[RawMessage] = []
    for number, message in enumerate(value if type(value) is list else [value]):
        with prefix_errors(f"[{number}]"):
            messages += read_one(mapping(message, ""))
    return messages
