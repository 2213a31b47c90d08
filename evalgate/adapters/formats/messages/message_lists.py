"""Reads lists of messages and parts one after the other; an error names the invalid entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evalgate.adapters.formats.core.build.raw_message import RawMessage


def read_each(value: Any, read_one: Callable[[dict[str, Any]], Iterable[RawMessage]]) -> list[RawMessage]:
    """Reads a list of messages, or one message; raises FieldError naming the message."""
    messages: list[RawMessage] = []
    for number, message in enumerate(value if type(value) is list else [value]):
        try:
            messages += read_one(mapping(message, ""))
        except FieldError as error:
            raise error.with_prefix(f"[{number}]") from None
    return messages


def do_each(values: list[Any], path: str, do_one: Callable[[dict[str, Any]], None]) -> None:
    """Calls `do_one` with every part of a list; raises FieldError naming the part."""
    for number, value in enumerate(values):
        try:
            do_one(mapping(value, ""))
        except FieldError as error:
            raise error.with_prefix(f"{path}[{number}]") from None
