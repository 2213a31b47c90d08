"""Decodes JSON strictly: unique keys, finite numbers, valid Unicode, at most 64 levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from evalgate.errors import TraceError
from evalgate.measures.values.json_values import truncate

if TYPE_CHECKING:
    from json import JSONDecodeError

MAX_DEPTH = 64
SMALL = 500_000
"""Texts up to this many bytes fit any memory bound."""
SHOWN_CHARS = 40
CONTAINERS = frozenset({dict, list})


def decode(data: bytes) -> Any:
    """The value of a JSON text; raises TraceError with problem and position, never quoting the text.

    Depth is not checked: see `require_shallow`.
    """
    if len(data) > SMALL:
        from evalgate.adapters.formats.core import low_memory_json  # most records are small

        if not low_memory_json.can_parse_quickly(len(data)):
            return _decode_in_low_memory(data)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise TraceError(_describe_error(data, error)) from None
    _require_unique_keys(data, value)
    return value


def _decode_in_low_memory(data: bytes) -> Any:
    import json

    from evalgate.adapters.formats.core import low_memory_json

    try:
        return low_memory_json.decode(data, _build_unique_object)
    except json.JSONDecodeError as error:
        raise TraceError(_describe_error(data, error)) from None


def is_complete(data: bytes) -> bool:
    """True for a complete JSON value; only `decode` checks the stricter rules."""
    if len(data) > SMALL:
        from evalgate.adapters.formats.core import low_memory_json

        if not low_memory_json.can_parse_quickly(len(data)):
            return low_memory_json.is_complete(data)
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def decode_leniently(data: bytes) -> Any:
    """What can still be read of a text that `decode` refused; None if nothing can.

    A duplicate key with different values is left out: either value could be the right one.
    """
    import json

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
    import json

    json.loads(data, object_pairs_hook=_build_unique_object)


def _has_as_many_colons(data: bytes, encoded: bytes) -> bool:
    return data.count(b":") == encoded.count(b":") and (b"\\u003" not in data or _has_no_hidden_colon(data))


def _has_no_hidden_colon(data: bytes) -> bool:
    return b"\\u003a" not in data and b"\\u003A" not in data


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


def _describe_error(data: bytes, error: JSONDecodeError) -> str:
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
        return f"an unpaired surrogate, at {position}"
    if rest.lstrip("-")[:1].isdigit() and "infinity" in error.msg:
        return f"a number is too large, at {position}"
    return f"not valid JSON, at {position}"
