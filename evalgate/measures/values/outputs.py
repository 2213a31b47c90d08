"""Reads an output as text, as a number, as JSON, at a path within that JSON, or as that of a call that failed."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import orjson

from evalgate.measures.text.plain_text import LEAST_CUT, mark_cut, mark_part
from evalgate.measures.values.json_values import as_number, decode_json_text, json_type, shorten, show, truncate

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ToolCall

MAX_SHOWN = 100
MAX_PATH = 1_000
_MAX_EXACT = 2**53
_MAX_WRITTEN = 10**21
_LEAST_EXPONENT = -400
"""Decimal places below which a number is read as a float, which makes it 0."""
_EXACT = Context(prec=800)
Number: TypeAlias = int | float | Decimal


class OutputError(ValueError):
    """The output can't be read as requested."""


class PathError(ValueError):
    """The text is not a path."""


def to_text(value: Any) -> str:
    """Returns text unchanged, any other value as JSON.

    >>> to_text("5"), to_text({"a": [1, None]})
    ('5', '{"a":[1,null]}')
    """
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:  # a whole number of more than 64 bits
        import json

        return json.dumps(value, separators=(",", ":"))


def quote_beginning(text: str) -> str:
    """Quotes the first 100 characters on one line, as a part of a sentence."""
    left = len(text) - MAX_SHOWN
    limit = len(text) if left < LEAST_CUT else MAX_SHOWN
    shown = orjson.dumps(truncate(text, limit).encode(errors="replace").decode()).decode()
    return mark_part(shown if left < LEAST_CUT else f"{shown}{mark_cut(left)}")


def read_number(text: str) -> Decimal:
    """Reads the text as a finite number, exactly, ignoring blanks around it. Raises OutputError."""
    bare = _strip_text(text)
    number = as_number(bare)
    if number is None:
        raise OutputError(f"not a number: {quote_beginning(text)}")
    exact = Decimal(bare)
    return exact if exact.adjusted() > _LEAST_EXPONENT else Decimal(repr(number))


def to_decimal(number: Number) -> Decimal:
    """The number as it is written: 0.1 is one tenth."""
    return number if isinstance(number, Decimal) else Decimal(repr(number))


def subtract(number: Decimal, other: Decimal) -> Decimal:
    """The difference, exact for all digits that two finite numbers can have before nine decimal places."""
    return _EXACT.subtract(number, other)


def to_json_number(number: Decimal) -> int | float:
    """The number for a JSON document: one of many digits stays whole if 64 bits hold it, others are floats."""
    is_long = _MAX_EXACT < abs(number) < 2**63 and number == number.to_integral_value()
    return int(number) if is_long else float(number)


def format_number(number: Number) -> str:
    """Formats the number as people write it, in full unless it is very large.

    >>> format_number(7.0), format_number(0.1), format_number(1e300), format_number(1234567890123456789)
    ('7', '0.1', '1e+300', '1234567890123456789')
    """
    exact = to_decimal(number)
    if abs(exact) < _MAX_WRITTEN and exact == exact.to_integral_value():
        return format(exact, ".0f") if exact else "0"
    short = float(exact)
    return show(short) if exact == Decimal(repr(short)) else shorten(str(exact), MAX_SHOWN)


def read_json(text: str) -> Any:
    """Reads the text as one JSON value. Raises OutputError, also for NaN, infinity and duplicate keys."""
    import json

    bare = _strip_text(text)
    try:
        value = orjson.loads(bare)
        # Checks only the keys: numbers stay text, so that none is too long to convert.
        json.loads(bare, object_pairs_hook=_refuse_duplicates, parse_int=str, parse_float=str)
    except OutputError:
        raise
    except (ValueError, RecursionError):
        raise OutputError(f"not valid JSON: {quote_beginning(text)}") from None
    return value


def _strip_text(text: str) -> str:
    return text.removeprefix("\ufeff").strip()  # some shells start every output with a byte order mark


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise OutputError(f"not valid JSON: the key {quote_beginning(key)} appears twice in one object")
        seen.add(key)


def parse_path(path: str) -> tuple[str, ...]:
    """Splits a dotted path, `.a.0.b` or `a.0.b`; a single dot is the value itself. Raises PathError."""
    if len(path) > MAX_PATH:
        raise PathError(f"a path may have at most {MAX_PATH:,} characters, this one has {len(path):,}")
    if path == ".":
        return ()
    steps = tuple(path.removeprefix(".").split("."))
    if not all(steps):
        raise PathError("a name is missing before or after a dot")
    if any(step.endswith("]") for step in steps):
        raise PathError("list indexes are written as digits between dots, as in .items.0.name")
    return steps


def look_up(value: Any, steps: tuple[str, ...]) -> Any:
    """Returns the value at the path: keys of objects, indexes of lists as digits. Raises OutputError."""
    for position, step in enumerate(steps):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            _raise_not_found(value, steps, position)
    return value


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdigit()


def _raise_not_found(value: Any, steps: tuple[str, ...], position: int) -> NoReturn:
    found = f"a list of {len(value)}" if isinstance(value, list) else json_type(value)
    if isinstance(value, dict):
        found = (
            f"an object with the keys {mark_part(show(sorted(value)[:10], MAX_SHOWN))}" if value else "an empty object"
        )
    above = f".{'.'.join(steps[:position])}"
    raise OutputError(f"path not found: {quote_beginning(steps[position])} at {mark_part(above)} ({found})")


ERROR_KEYS = ("error", "isError", "is_error")


def ended_in_error(call: ToolCall) -> bool:
    """Whether a call failed: by its status or, where the recording has none, by its result.

    A result says so if it is a JSON object with an `error` that is not empty, or with a true `isError` or `is_error`.
    """
    if call["status"] != "unknown":
        return call["status"] == "error"
    result = call["result_text"] if call["result"] is None else call["result"]
    if isinstance(result, str):
        result = decode_json_text(result) if 'rror"' in result else None
    return isinstance(result, dict) and any(result.get(key) for key in ERROR_KEYS)
