"""Decodes ids, times and attributes of spans as tracers write them; finds fields that no encoding knows."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from evalgate.adapters.formats.core.builder.evidence_gaps import holds_objects, judge_unknown
from evalgate.adapters.formats.core.builder.side_fields import parse_digits
from evalgate.adapters.formats.core.fields import FieldError, count, flag, listing, mapping, text
from evalgate.adapters.formats.core.strict_json import MAX_DEPTH, make_printable, require_shallow
from evalgate.models.trace.trace import MAX_ID_LENGTH

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


LARGEST_NS = 2**63 - 1
SECOND = 10**9
# The size of a bare number shows its unit: seconds, milliseconds, microseconds and nanoseconds since 1970
# are three orders of magnitude apart for any year from 1973 to 5138.
UNITS = ((10**17, 1), (10**14, 10**3), (10**11, 10**6), (0, SECOND))
ENCODED_LENGTHS = {24: 16, 12: 8}
PAIR_LENGTH = 2


def read_name(value: Any, path: str) -> str:
    """Text; empty for None."""
    return text(value, path) or ""


def parse_id(value: Any, path: str) -> str | None:
    """A trace or span id as lower-case text; None for None, "" and all zeros.

    Protobuf's JSON writes the bytes of ids as base64, every other encoding as hex digits.
    """
    if value is None or value == "":
        return None
    if type(value) is int or (type(value) is float and value.is_integer()):
        value = str(int(value))  # Python writes 128 bits as a number, which others read as a rounded one
    if type(value) is not str:
        raise FieldError(path, "is not text")
    if len(value) > MAX_ID_LENGTH:
        raise FieldError(path, f"is longer than {MAX_ID_LENGTH} characters")
    plain = _hex_from_base64(value) or value.lower().removeprefix("0x")
    return plain if plain.strip("0") else None


def require_id(value: Any, path: str) -> str:
    """An id; raises FieldError if it is missing."""
    found = parse_id(value, path)
    if found is None:
        raise FieldError(path, "is missing")
    return found


def parse_nanos(value: Any, path: str) -> int | None:
    """A time in nanoseconds, as number or digits; 0 means that it is not set."""
    if type(value) is str:
        value = _parse_digits(value, path)
    if value is None or value == 0:
        return None
    if type(value) is not int and type(value) is not float:
        raise FieldError(path, "is not a valid time")
    return _require_range(int(value), path) if -LARGEST_NS < value < LARGEST_NS else _raise_out_of_range(path)


def parse_time(value: Any, path: str) -> int | None:
    """A time in ns, from RFC 3339, `[seconds, nanoseconds]`, or a number whose size shows its unit."""
    if value is None or value == "":
        return None
    if type(value) is list:
        return _parse_pair(value, path)
    if type(value) is str:
        if not _is_number(value):
            return _parse_iso(value, path)
        value = _parse_digits(value, path)
    if type(value) is not int and type(value) is not float:
        raise FieldError(path, "is not a valid time")
    if not 0 <= value < LARGEST_NS:
        return _raise_out_of_range(path)
    factor = next(factor for least, factor in UNITS if value >= least)
    return _require_range(_to_nanoseconds(value, factor), path) or None


def parse_scaled(value: Any, factor: int, path: str) -> int | None:
    """A time or duration in ns, from a number of units of `factor` ns."""
    if value is None:
        return None
    if type(value) is str:
        value = _parse_digits(value, path)
    if type(value) is not int and type(value) is not float:
        raise FieldError(path, "is not a number")
    if not 0 <= value * factor < LARGEST_NS:
        return _raise_out_of_range(path)
    return _to_nanoseconds(value, factor)


def _to_nanoseconds(value: float, factor: int) -> int:
    """Converts through Decimal to avoid binary rounding: 0.25 s is 250,000,000 ns."""
    if type(value) is int:
        return value * factor
    from decimal import Decimal

    return int(Decimal(repr(value)) * factor)


def _parse_pair(value: list[Any], path: str) -> int:
    if len(value) != PAIR_LENGTH or not all(type(part) is int for part in value):
        raise FieldError(path, "is not a pair of seconds and nanoseconds")
    return _require_range(value[0] * SECOND + value[1], path)


def _parse_iso(value: str, path: str) -> int:
    from datetime import UTC, datetime, timedelta

    try:
        found = datetime.fromisoformat(value)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise FieldError(path, "is not an RFC 3339 time") from None
    microseconds = (found - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return _require_range(microseconds * 1000 + _nanosecond_digits(value), path)


def _nanosecond_digits(value: str) -> int:
    """The nanoseconds below one microsecond, which `datetime` drops."""
    fraction = value.partition(".")[2]
    digits = fraction[: len(fraction) - len(fraction.lstrip("0123456789"))]
    return int(digits[6:9].ljust(3, "0")) if len(digits) > len("micros") else 0


def _require_range(value: int, path: str) -> int:
    return value if 0 <= value <= LARGEST_NS else _raise_out_of_range(path)


def _raise_out_of_range(path: str) -> int:
    raise FieldError(path, "is out of range for a time")


def _is_number(value: str) -> bool:
    return len(value) <= len(str(LARGEST_NS)) and value.isascii() and value.replace(".", "", 1).isdigit()


def _parse_digits(value: str, path: str) -> int | float:
    if not _is_number(value):
        raise FieldError(path, "is not a valid time")
    return float(value) if "." in value else int(value)


def _hex_from_base64(value: str) -> str | None:
    """The hex digits of an id in base64; None for an id in hex, which has another length."""
    size = ENCODED_LENGTHS.get(len(value))
    if size is None or not value.endswith("="):
        return None
    import base64
    import binascii

    try:
        data = base64.b64decode(value, validate=True)
    except binascii.Error:
        return None
    return data.hex() if len(data) == size else None


DROPPED_ATTRIBUTES = ("droppedAttributesCount", "dropped_attributes_count", "dropped_attributes")
DROPPED_EVENTS = ("droppedEventsCount", "dropped_events_count", "dropped_events")


def read_dropped(fields: dict[str, Any], path: str) -> tuple[int, int]:
    """How many attributes and events a tracer left out of a span, or attributes of its events."""
    attributes = sum(_read_count(fields, key, path) for key in DROPPED_ATTRIBUTES if key in fields)
    events = sum(_read_count(fields, key, path) for key in DROPPED_EVENTS if key in fields)
    listed = fields.get("events")
    for event in listed if type(listed) is list else ():
        events += sum(
            _read_count(event, key, path) for key in DROPPED_ATTRIBUTES if type(event) is dict and key in event
        )
    return attributes, events


def _read_count(fields: dict[str, Any], key: str, path: str) -> int:
    return count(parse_digits(fields[key]), f"{path}.{key}") or 0


SEPARATORS = re.compile("[^a-z]")
SHOWN_CHARS = 60


def find_unknown_fields(fields: dict[str, Any], known: frozenset[str]) -> tuple[str, ...]:
    """The names of unknown fields in which something can be a call, or that are known ones in an unknown spelling."""
    unknown = _list_unknown(tuple(fields), known)
    if not unknown:
        return ()
    spellings = _list_spellings(known)
    return tuple(
        make_printable(key[:SHOWN_CHARS])
        for key in unknown
        if fields[key] and (_respell(key) in spellings or _can_be_call(key, fields[key]))
    )


def _can_be_call(key: str, value: Any) -> bool:
    return holds_objects(value) and judge_unknown(key, value, key).can_be_call


@lru_cache(maxsize=1_024)
def _list_unknown(keys: tuple[str, ...], known: frozenset[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if key not in known)


@lru_cache(maxsize=16)
def _list_spellings(known: frozenset[str]) -> frozenset[str]:
    return frozenset(map(_respell, known))


def _respell(key: str) -> str:
    return SEPARATORS.sub("", key[:100].lower())


def is_app_root(attributes: dict[str, Any]) -> bool:
    """Whether Langfuse's SDK marked the span as one whose parent it was not to export."""
    return str(attributes.get("langfuse.internal.is_app_root")).lower() == "true"
