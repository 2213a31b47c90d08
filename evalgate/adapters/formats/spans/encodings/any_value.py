"""Decodes OTLP attributes: a list of keys, each value wrapped in an object that names its type."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.fields import FieldError, flag, listing, mapping, text
from evalgate.adapters.formats.core.strict_json import MAX_DEPTH, require_shallow, shown

KINDS = ("string", "int", "double", "bool", "array", "kvlist", "bytes")
KIND_OF = {f"{kind}{ending}": kind for kind in KINDS for ending in ("Value", "_value")}
INTEGERS = range(-(2**63), 2**64)
LONGEST_NUMBER = 40


def attributes(value: Any, path: str, depth: int = 0) -> dict[str, Any]:
    """Attributes by key; raises FieldError for a key with two different values.

    A plain object is returned unchanged: some exporters write one.
    """
    if type(value) is dict:
        require_shallow(value, min(depth, MAX_DEPTH))
        return value
    found: dict[str, Any] = {}
    for number, pair in enumerate(listing(value, path)):
        if type(pair) is not dict or type(pair.get("key")) is not str:
            raise FieldError(f"{path}[{number}]", "is no object with a `key`")
        held = pair.get("value")
        plain = held.get("stringValue") if type(held) is dict else None
        if type(plain) is not str:
            plain = any_value(held, f"{path}[{number}].value", depth + 1)
        if found.setdefault(pair["key"], plain) != plain:
            raise FieldError(f"{path}[{number}]", contradicts(pair["key"]))
    return found


def contradicts(key: str) -> str:
    """The error for a key with two different values."""
    return f"tells `{shown(key)}` a second time, and differently"


def any_value(value: Any, path: str, depth: int = 0) -> Any:
    """The plain value; None for a type unknown to OTLP."""
    if depth > MAX_DEPTH:
        raise FieldError("", f"values lie more than {MAX_DEPTH} levels deep")
    if type(value) is not dict:
        require_shallow(value, min(depth, MAX_DEPTH))
        return value
    for key, held in value.items():
        kind = KIND_OF.get(key)
        if kind is not None:
            return _held(kind, held, f"{path}.{key}", depth)
    return None


def _held(kind: str, held: Any, path: str, depth: int) -> Any:
    if kind in {"array", "kvlist"}:
        values = mapping(held, path).get("values")
        if kind == "kvlist":
            return attributes(values, f"{path}.values", depth)
        items = enumerate(listing(values, f"{path}.values"))
        return [any_value(item, f"{path}.values[{number}]", depth + 1) for number, item in items]
    if kind in {"int", "double"}:
        return _number(kind, held, path)
    if kind == "bool":
        return flag(held, path)
    found = text(held, path)
    return found if found is None or kind == "string" else f"({len(found) * 3 // 4} bytes)"


def _number(kind: str, held: Any, path: str) -> float | int | None:
    """A number, also written as text; None for NaN and infinity."""
    if type(held) is str and len(held) <= LONGEST_NUMBER and held.isascii():
        try:
            held = int(held) if kind == "int" else float(held)
        except ValueError:
            raise FieldError(path, "is not a number") from None
    if type(held) is float:
        return held if abs(held) < float("inf") else None
    if type(held) is not int or held not in INTEGERS:
        raise FieldError(path, "is not a number")
    return held
