"""Encodes a request for a judge in another process as JSON; decodes it there. The sender is trusted."""

from __future__ import annotations

from datetime import date, datetime
from importlib import import_module
from typing import Any

OURS = "evalgate."


def to_plain(value: Any) -> Any:
    """Converts records, dates, bytes and sets to JSON values."""
    if value is None or isinstance(value, str | int | float):
        return value
    kind = type(value)
    names = getattr(kind, "_fields", None) or getattr(kind, "__match_args__", None)
    if names:
        fields = {name: to_plain(getattr(value, name)) for name in names}
        return {"record": f"{kind.__module__}:{kind.__qualname__}", "fields": fields}
    if kind in _WRITTEN:
        name, write = _WRITTEN[kind]
        return {name: write(value)}
    if isinstance(value, list | tuple):
        return [to_plain(each) for each in value]
    raise TypeError(f"a question can't hold {kind.__qualname__}")


def from_plain(plain: Any) -> Any:
    """Restores what `encode_value` was given; lists and tuples come back as tuples."""
    if isinstance(plain, list):
        return tuple(map(from_plain, plain))
    if not isinstance(plain, dict):
        return plain
    if "record" in plain:
        fields = {name: from_plain(each) for name, each in plain["fields"].items()}
        return _class(plain["record"])(**fields)
    kind, value = next(iter(plain.items()))
    return _READ[kind](value)


def _class(name: str) -> Any:
    module, _, class_name = name.partition(":")
    if not module.startswith(OURS):
        raise ValueError("a question holds records of our own only")
    return getattr(import_module(module), class_name)


_WRITTEN: dict[type, tuple[str, Any]] = {
    bytes: ("bytes", lambda value: value.decode("latin-1")),
    datetime: ("moment", datetime.isoformat),
    date: ("day", date.isoformat),
    dict: ("map", lambda value: [[key, to_plain(each)] for key, each in value.items()]),
    frozenset: ("set", lambda value: [to_plain(each) for each in sorted(value)]),
}
_READ: dict[str, Any] = {
    "bytes": lambda text: text.encode("latin-1"),
    "moment": datetime.fromisoformat,
    "day": date.fromisoformat,
    "map": lambda pairs: {key: from_plain(each) for key, each in pairs},
    "set": lambda values: frozenset(map(from_plain, values)),
}
