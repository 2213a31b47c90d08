"""Decodes JSON strictly: unique keys, finite numbers, valid Unicode, at most 64 levels; encodes it."""

from __future__ import annotations

import json
import re
from math import isinf
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import orjson

from evalgate.errors import TraceError
from evalgate.measures.values.json_stream import get_memory_limit
from evalgate.measures.values.json_values import truncate

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 64
SIZE_FACTOR, BOUND_DIVISOR = 90, 4
"""Memory that orjson needs as a multiple of the text's size; the divisor of the memory bound one text may use."""
SMALL = 500_000
"""Texts up to this many bytes fit any memory bound."""
SHOWN_CHARS = 40
UNPAIRED = "an unpaired surrogate"
CONTAINERS = frozenset({dict, list})
_MAX_DIGITS = 25
_INT_RANGE = range(-(2**63), 2**64)
_LARGE_NUMBERS = re.compile(rb"[0-9]{19}|[eE][+]?[0-9]{3}")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class DecodedText(NamedTuple):
    """The value of a JSON text; `has_halves` if it held one half of a surrogate pair, which is U+FFFD in it."""

    value: Any
    has_halves: bool = False


def decode(data: bytes) -> Any:
    """The value of a JSON text; raises TraceError with problem and position, never quoting the text.

    Depth is not checked: see `require_shallow`.
    """
    return decode_repaired(data).value


def decode_repaired(data: bytes) -> DecodedText:
    """Like `decode`, and whether a text had to be repaired: RFC 8259 allows an escape that is half a character."""
    if not _fits_memory(len(data)):
        return decode_slowly(data)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        problem = _describe_error(data, error)
        if problem.startswith(UNPAIRED) and _SURROGATE_ESCAPE.search(data):
            return decode_slowly(data)
        raise TraceError(problem) from None
    _require_unique_keys(data, value)
    return DecodedText(value)


def _fits_memory(size: int) -> bool:
    """Whether memory allows orjson for a text of `size` bytes."""
    return size <= SMALL or size * SIZE_FACTOR * BOUND_DIVISOR < get_memory_limit()


def decode_slowly(data: bytes) -> DecodedText:
    """Like `decode_repaired`, with the standard library: slower, but fits large records into bounded memory.

    orjson allocates twelve times the size of the text at the start; encoding the value again, to find duplicate
    keys, takes a quarter of a kilobyte an item. Both return exactly the same values.
    """
    numbers: dict[str, Any] = {}
    if _LARGE_NUMBERS.search(data):
        numbers = {"parse_int": _parse_whole_number, "parse_float": _parse_finite_number}
    try:
        value = json.loads(
            data.decode(), object_pairs_hook=_build_unique_object, parse_constant=_refuse_constant, **numbers
        )
    except UnicodeDecodeError as broken:
        raise TraceError(f"byte {broken.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise TraceError(_describe_error(data, error)) from None
    except RecursionError:
        raise TraceError("lists and objects are nested too deeply") from None
    return _repair(value) if _SURROGATE_ESCAPE.search(data) else DecodedText(value)


def _repair(value: Any) -> DecodedText:
    """The value with U+FFFD for each half of a character; raises TraceError if two keys become the same."""
    from evalgate.measures.text.half_characters import has_halves, repair_value  # few texts are cut in a character

    is_cut = any(map(has_halves, _list_texts(value)))
    return DecodedText(repair_value(value, _build_unique_object) if is_cut else value, is_cut)


def is_complete(data: bytes) -> bool:
    """True for a complete JSON value; only `decode` checks the stricter rules."""
    try:
        if _fits_memory(len(data)):
            orjson.loads(data)
        else:
            json.loads(data.decode(), object_pairs_hook=_discard_object)
    except orjson.JSONDecodeError:
        return bool(_SURROGATE_ESCAPE.search(data)) and _is_json(data)
    except (ValueError, RecursionError):
        return False
    return True


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data.decode(), object_pairs_hook=_discard_object)
    except (ValueError, RecursionError):
        return False
    return True


def encode_json(value: Any) -> str:
    """A value as JSON text with sorted keys, so equal values give equal text."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def encode_text(value: Any) -> str | None:
    """Text as it is, None as None, any other value as JSON text."""
    return value if value is None or type(value) is str else encode_json(value)


def decode_leniently(data: bytes) -> Any:
    """What can still be read of a text that `decode` refused; None if nothing can.

    A duplicate key with different values is left out: either value could be the right one.
    """
    try:
        return json.loads(data, object_pairs_hook=_drop_disputed_keys)
    except (ValueError, RecursionError):
        return None


def require_shallow(value: Any, levels_above: int = 0) -> None:
    """Raises TraceError for more than 64 levels, counting the `levels_above` that enclose the value."""
    if type(value) is dict and CONTAINERS.isdisjoint(map(type, value.values())):
        return  # flat, like nearly all arguments
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH - levels_above):
        if not level:
            return
        level = [
            child
            for node in level
            for child in (node.values() if type(node) is dict else node)
            if type(child) in CONTAINERS
        ]
    if level:
        raise TraceError(f"lists and objects are nested more than {MAX_DEPTH} levels deep")


def make_printable(text: str) -> str:
    """Untrusted text made safe for one line of an error: short and printable."""
    plain = "".join(char if char.isprintable() else "?" for char in truncate(text, SHOWN_CHARS))
    return plain if len(text) <= SHOWN_CHARS else f"{plain}..."


def _require_unique_keys(data: bytes, value: Any) -> None:
    """Raises TraceError for a duplicate key; tries two quick proofs before it decodes again.

    If encoding the value gives the same bytes, no key was dropped. Else colons are counted: a dropped key
    drops its colon, and no other colon can make up for it unless one is written as an escape.
    """
    try:
        encoded = orjson.dumps(value)
    except orjson.JSONEncodeError:  # deeper than orjson can encode
        require_shallow(value)
        raise
    if encoded == data or _has_as_many_colons(data, encoded):
        return
    json.loads(data, object_pairs_hook=_build_unique_object)


def _has_as_many_colons(data: bytes, encoded: bytes) -> bool:
    if data.count(b":") != encoded.count(b":"):
        return False
    return b"\\u003" not in data or (b"\\u003a" not in data and b"\\u003A" not in data)


def _build_unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise TraceError(f"the key `{make_printable(key)}` appears twice in one object")
            seen.add(key)
    return found


def _drop_disputed_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        for key, value in pairs:
            if key in found and found[key] is not value and found[key] != value:
                del found[key]
    return found


def _describe_error(data: bytes, error: json.JSONDecodeError) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as broken:
        return f"byte {broken.start + 1} is not UTF-8"
    position = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
    rest = text[error.pos : error.pos + 12]
    if not text[error.pos :].strip():
        return f"the JSON ends unexpectedly, at {position}"
    if rest.lstrip("-").startswith(("NaN", "Inf")):
        return f"NaN and Infinity are not valid JSON, at {position}"
    if rest.startswith("\\u"):
        return f"{UNPAIRED}, at {position}"
    if rest.lstrip("-")[:1].isdigit() and "infinity" in error.msg:
        return f"a number is too large, at {position}"
    return f"not valid JSON, at {position}"


def _discard_object(_: object) -> None:
    """Replaces any object by None."""


def _parse_whole_number(digits: str) -> float:
    """An integer; beyond 64 bits the nearest float."""
    if len(digits) < _MAX_DIGITS and (number := int(digits)) in _INT_RANGE:
        return number
    return _parse_finite_number(digits)


def _parse_finite_number(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise TraceError("a number is too large")
    return number


def _refuse_constant(_: str) -> NoReturn:
    raise TraceError("NaN and Infinity are not valid JSON")


def _list_texts(value: Any) -> Iterator[str]:
    """Every text and key in the value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, str):
            yield each
