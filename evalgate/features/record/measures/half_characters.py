"""Half characters: JSON may hold one half of a surrogate pair as an escape (RFC 8259, section 8.2), Unicode may not.

A text may be cut between the halves and sent in two parts: so parts are joined first, and repaired then.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

import orjson

HALF = "\N{REPLACEMENT CHARACTER}"
"""What stands for a half without the other."""
_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SIXTY_FOUR_BITS = range(-(2**63), 2**64)


class Decoded(NamedTuple):
    """The value of a JSON text; `has_halves` if some of its texts have to be repaired."""

    value: Any
    has_halves: bool = False


def decode_json(data: bytes | bytearray | str) -> Decoded:
    """The value of a JSON text, halves kept as they are; raises ValueError for anything else that is not JSON."""
    try:
        return Decoded(orjson.loads(data))
    except ValueError:
        text = data if isinstance(data, str) else data.decode()
        if not _ESCAPE.search(text):
            raise
    try:
        value = json.loads(text, parse_int=_parse_whole_number, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return Decoded(value, has_halves=True)


def decode_repaired(data: bytes | bytearray | str) -> Decoded:
    """The value of a JSON text, its texts repaired; raises ValueError for anything else that is not JSON."""
    value, has_halves = decode_json(data)
    return Decoded(repair_value(value) if has_halves else value, has_halves)


def repair_text(text: str) -> str:
    r"""The text with two halves that belong together as one character, and any other half as U+FFFD.

    >>> repair_text("\ud83e\uddea \ud83e!") == "\U0001f9ea \ufffd!"
    True
    """
    if text.isascii() or not _has_halves(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def repair_value(value: Any) -> Any:
    """A JSON value with all its texts repaired, names too."""
    if type(value) is str:
        return repair_text(value)
    if type(value) is list:
        return [repair_value(each) for each in value]
    if type(value) is dict:
        return {repair_text(name): repair_value(each) for name, each in value.items()}
    return value


def _has_halves(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _parse_whole_number(digits: str) -> float:
    """As orjson reads it: beyond 64 bits the nearest float."""
    number = int(digits)
    return number if number in _SIXTY_FOUR_BITS else float(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
