"""Encodes a request for a judge in another process as JSON; decodes it there. The sender is trusted."""

from __future__ import annotations

from datetime import date, datetime
from importlib import import_module
from typing import Any

PACKAGE_PREFIX = "evalgate."


def encode_value(value: Any) -> Any:
    """Converts records, dates, bytes and sets to JSON values."""
    if value is None or isinstance(value, str | int | float):
        return value
    kind = type(value)
    names = getattr(kind, "_fields", None) or getattr(kind, "__match_args__", None)
    if names:
        fields = {name: encode_value(getattr(value, name)) for name in names}
        return {"record": f"{kind.__module__}:{kind.__qualname__}", "fields": fields}
    if kind in _ENCODERS:
        name, write = _ENCODERS[kind]
        return {name: write(value)}
    if isinstance(value, list | tuple):
        return [encode_value(each) for each in value]
    raise TypeError(f"a request can't hold {kind.__qualname__}")


def decode_value(encoded: Any) -> Any:
    """Restores what `encode_value` was given; lists and tuples come back as tuples."""
    if isinstance(encoded, list):
        return tuple(map(decode_value, encoded))
    if not isinstance(encoded, dict):
        return encoded
    if "record" in encoded:
        fields = {name: decode_value(each) for name, each in encoded["fields"].items()}
        return _load_class(encoded["record"])(**fields)
    kind, value = next(iter(encoded.items()))
    return _DECODERS[kind](value)


def _load_class(name: str) -> Any:
    module, _, class_name = name.partition(":")
    if not module.startswith(PACKAGE_PREFIX):
        raise ValueError("a request holds only EvalGate's own records")
    return getattr(import_module(module), class_name)


_ENCODERS: dict[type, tuple[str, Any]] = {
    bytes: ("bytes", lambda value: value.decode("latin-1")),
    datetime: ("moment", datetime.isoformat),
    date: ("day", date.isoformat),
    dict: ("map", lambda value: [[key, encode_value(each)] for key, each in value.items()]),
    frozenset: ("set", lambda value: [encode_value(each) for each in sorted(value)]),
}
_DECODERS: dict[str, Any] = {
    "bytes": lambda text: text.encode("latin-1"),
    "moment": datetime.fromisoformat,
    "day": date.fromisoformat,
    "map": lambda pairs: {key: decode_value(each) for key, each in pairs},
    "set": lambda values: frozenset(map(decode_value, values)),
}
