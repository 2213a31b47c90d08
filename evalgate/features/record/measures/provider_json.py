"""Decodes JSON of providers, in which a text may end within a character whose rest the next part of a stream has."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

import orjson

from evalgate.measures.text.half_characters import repair_value

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


def _parse_whole_number(digits: str) -> float:
    """As orjson reads it: beyond 64 bits the nearest float."""
    number = int(digits)
    return number if number in _SIXTY_FOUR_BITS else float(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
