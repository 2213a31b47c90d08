"""Decodes OTLP attributes: a list of keys, each value wrapped in an object that names its type."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.fields import FieldError, flag, listing, mapping, text
from evalgate.adapters.formats.core.strict_json import MAX_DEPTH, make_printable, require_shallow

KINDS = ("string", "int", "double", "bool", "array", "kvlist", "bytes")
KINDS_BY_KEY = {f"{kind}{ending}": kind for kind in KINDS for ending in ("Value", "_value")}
INTEGERS = range(-(2**63), 2**64)
LONGEST_NUMBER = 40


def decode_attributes(value: Any, path: str, depth: int = 0) -> dict[str, Any]:
    """Attributes by key; raises FieldError for a key with two different values.

    A plain object is returned unchanged: some exporters write one.
    """
    if type(value) is dict:
        require_shallow(value, min(depth, MAX_DEPTH))
        return value
    found: dict[str, Any] = {}
    for number, pair in enumerate(listing(value, path)):
        if type(pair) is not dict or type(pair.get("key")) is not str:
            raise FieldError(f"{path}[{number}]", "is not an object with a `key`")
        wrapped = pair.get("value")
        plain = wrapped.get("stringValue") if type(wrapped) is dict else None
        if type(plain) is not str:
            plain = decode_value(wrapped, f"{path}[{number}].value", depth + 1)
        if found.setdefault(pair["key"], plain) != plain:
            raise FieldError(f"{path}[{number}]", contradiction_text(pair["key"]))
    return found


def contradiction_text(key: str) -> str:
    """The error for a key with two different values."""
    return f"has `{make_printable(key)}` twice, with different values"


def decode_value(value: Any, path: str, depth: int = 0) -> Any:
    """The plain value; a value of a type unknown to OTLP stays an object, so that it can be searched."""
    if depth > MAX_DEPTH:
        raise FieldError("", f"values are nested more than {MAX_DEPTH} levels deep")
    if type(value) is not dict:
        require_shallow(value, min(depth, MAX_DEPTH))
        return value
    for key, inner in value.items():
        kind = KINDS_BY_KEY.get(key)
        if kind is not None:
            return _decode_kind(kind, inner, f"{path}.{key}", depth)
    require_shallow(value, min(depth, MAX_DEPTH))
    return value or None


def _decode_kind(kind: str, value: Any, path: str, depth: int) -> Any:
    if kind in {"array", "kvlist"}:
        values = mapping(value, path).get("values")
        if kind == "kvlist":
            return decode_attributes(values, f"{path}.values", depth)
        items = enumerate(listing(values, f"{path}.values"))
        return [decode_value(item, f"{path}.values[{number}]", depth + 1) for number, item in items]
    if kind in {"int", "double"}:
        return _parse_number(kind, value, path)
    if kind == "bool":
        return flag(value, path)
    found = text(value, path)
    return found if found is None or kind == "string" else f"({len(found) * 3 // 4} bytes)"


def _parse_number(kind: str, value: Any, path: str) -> float | int | None:
    """A number, also written as text; None for NaN and infinity."""
    if type(value) is str and len(value) <= LONGEST_NUMBER and value.isascii():
        try:
            value = int(value) if kind == "int" else float(value)
        except ValueError:
            raise FieldError(path, "is not a number") from None
    if type(value) is float:
        return value if abs(value) < float("inf") else None
    if type(value) is not int or value not in INTEGERS:
        raise FieldError(path, "is not a number")
    return value
