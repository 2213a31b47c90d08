"""JSON values: equality as in JSON, numbers, short text for people, and JSON Schemas."""

from __future__ import annotations

import json
import operator
import re
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.plain_text import LEAST_CUT, mark_cut, mark_part, remove_invisible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_LOOKAHEAD = 2_000
"""Characters inspected beyond a cut, so that a secret across the cut is seen whole."""

CURRENCIES = "USD|EUR|GBP|JPY|CNY|INR|CHF|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|KRW"
"""Codes that make a number an amount, as a pattern."""
CURRENCY_SIGNS = r"$\u00a2-\u00a5\u20a0-\u20c0"
"""Signs that do, as the members of a set of a pattern."""
_UNIT = f"(?:[{CURRENCY_SIGNS}%]|{CURRENCIES})"
_AMOUNT = re.compile(rf"\s*([-+]?)(?:{_UNIT}\s?)?(\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s?{_UNIT})?\s*")
LONGEST_VALUE, MOST_WORDS = 80, 8
"""Longer texts are free text, which models word differently each time."""
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d{10}(?=(?:\d{3})?(?:\.\d+)?$)")
_SET_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:(?:00|30)(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_NEAR, _NOW = timedelta(days=2), timedelta(hours=2)
"""A time no farther from the start of a run may be its own, in whatever zone; another one is content. Nor is one on the
hour or half hour that is no farther from it than `_NOW`."""


def json_equal(a: Any, b: Any) -> bool:
    """Returns JSON equality: 1 equals 1.0, true equals neither 1 nor "true", key order does not matter."""
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(json_equal(v, b[k]) for k, v in a.items())
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(json_equal, a, b))
    return type(b) not in (dict, list) and bool(a == b)


def list_short_values(values: Iterable[Any], levels: int, most: int, started: str | None) -> list[dict[str, str]]:
    """The short values below each of the values, by path, without what differs in every run; at most `most` of each."""
    return [dict(islice(_iterate_short(each, "", levels, started), most)) for each in values]


def _iterate_short(value: Any, path: str, levels: int, started: str | None) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else ((f"[{index}]", each) for index, each in enumerate(value))
        for key, each in items if levels else ():
            joint = "" if not path or str(key).startswith("[") else "."
            yield from _iterate_short(each, f"{path}{joint}{key}", levels - 1, started)
    elif is_steady(value, started) or (isinstance(value, str) and is_set_time(value, started)):
        yield path, value if isinstance(value, str) else json.dumps(value)


def is_steady(value: Any, started: str | None) -> bool:
    """Whether a value may be the same in the next run: short, and neither an id of one run nor a time of it."""
    if not isinstance(value, str):
        return not is_time_of_run(str(value), started)
    return len(value) <= LONGEST_VALUE and len(value.split()) <= MOST_WORDS and not is_of_one_run(value, started)


def is_of_one_run(text: str, started: str | None) -> bool:
    """Whether a text has an id that each run makes for itself, or is a time of the run."""
    return bool(_UUID.search(text)) or is_time_of_run(text, started)


def is_time_of_run(text: str, started: str | None) -> bool:
    """Whether a text begins with a time about when a run started (RFC 3339); with any time if that is unknown."""
    found = _TIME.match(text)
    if found is None or started is None:
        return found is not None
    try:
        return abs(_parse_time(found[0]) - _parse_time(started)) <= _NEAR
    except ValueError:  # looks like a time, as `2026-13-45T99:00` does
        return False


def is_set_time(text: str, started: str | None) -> bool:
    """Whether a text is a time that someone set, on the hour or half hour, and none about when a run started.

    >>> [is_set_time(f"2026-02-20T{each}Z", "2026-02-20T10:07:00Z") for each in ("16:00", "16:01", "11:30")]
    [True, False, False]
    """
    if started is None or _SET_TIME.fullmatch(text) is None:
        return False
    try:
        return abs(_as_utc(text) - _as_utc(started)) > _NOW
    except ValueError:  # looks like a time, as `2026-13-45T99:00` does
        return False


def _as_utc(text: str) -> datetime:
    """A time with its zone, without one as if it were UTC."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _parse_time(text: str) -> datetime:
    """A time to the minute without its zone, or seconds since 1970."""
    return datetime.fromisoformat(text[:16]) if "-" in text else datetime(1970, 1, 1) + timedelta(seconds=int(text))  # noqa: DTZ001


def is_number(value: Any) -> bool:
    """Returns whether the value is a finite number; booleans and numeric text are not."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and (isinstance(value, int) or isfinite(value))
    )


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}
"""The comparisons of numbers, by the names of operators in suites."""
ALIASES = {"le": "lte", "ge": "gte"}


def as_number(value: Any) -> float | int | None:
    """Returns the value as a finite number; also reads numeric text. None for booleans and other values."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value) if value.isascii() and "_" not in value else None
        except ValueError:
            return None
    return value if is_number(value) else None


def read_amount(text: str) -> float | int | None:
    """The number that a text is, also with commas, a sign or code of a currency, or a percent sign; else None.

    >>> read_amount("$5,000"), read_amount("42.5 USD"), read_amount("order 7")
    (5000.0, 42.5, None)
    """
    if len(text) > LONGEST_VALUE:
        return None
    found = _AMOUNT.fullmatch(text)
    return as_number(f"{found[1]}{found[2].replace(',', '')}") if found else as_number(text)


def show(value: Any, limit: int = 80) -> str:
    """Formats the value as JSON on one line, cut to `limit` characters, with the number of characters cut.

    >>> show({"id": 42})
    '{"id":42}'
    """
    if isinstance(value, str) and len(value) > 4 * limit + LEAST_CUT:
        # Encoding a megabyte to print eighty characters of it would take most of the time of a check.
        return f"{_encode(truncate(value, 2 * limit))[:limit]}{mark_cut(len(value) + 2 - limit)}"
    return shorten(_encode(value), limit)


def shorten(text: str, limit: int = 80) -> str:
    """Cuts text to `limit` characters and appends the number of characters cut, unless that would be no shorter."""
    return text if len(text) < limit + LEAST_CUT else f"{truncate(text, limit)}{mark_cut(len(text) - limit)}"


def mark_value(value: Any, limit: int = 80) -> str:
    """Formats the value as `show` does, marked as a part of a sentence."""
    return mark_part(show(value, limit))


def mark_text(value: Any, limit: int = 80) -> str:
    """Does the same, but shows text that is a JSON object or list as it is, not as a text with escaped quotes.

    >>> mark_text('{"id": 42}'), mark_text("id")
    ('`{"id": 42}`', '`"id"`')
    """
    if not isinstance(value, str) or not re.match(r'\s*(\{\s*["}]|\[)', value):
        return mark_value(value, limit)
    window = value[: 2 * (limit + _LOOKAHEAD)].encode(errors="replace").decode()
    shown = " ".join(window.split())
    cut = len(value) - len(window)
    left = cut + max(0, len(shown) - limit)
    return mark_part(f"{truncate(shown, limit)}{mark_cut(left)}" if cut else shorten(shown, limit))


def mark_name(name: str, limit: int = 60) -> str:
    """Cuts a name to `limit` characters and marks it as a part of a sentence."""
    return mark_part(shorten(name, limit))


def decode_json_text(value: Any) -> Any:
    """The object or list in a text of JSON; any other value as it is."""
    if type(value) is not str or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def truncate(text: str, limit: int) -> str:
    """Returns the first `limit` characters, redacted first, while a secret at the cut is still whole."""
    window = text[: limit + _LOOKAHEAD]
    clean = redact(window)
    if len(text) > limit + _LOOKAHEAD:  # an incomplete secret at the end is not redacted: drop it
        clean = clean[: len(clean) - _count_unsure(remove_invisible(window), clean)]
    return clean[:limit]


def _count_unsure(window: str, clean: str) -> int:
    """Counts the last characters that redaction left unchanged: an incomplete secret may begin there."""
    least, most = 0, min(_LOOKAHEAD, len(clean))
    while least < most:
        middle = (least + most + 1) // 2
        if clean.endswith(window[-middle:]):
            least = middle
        else:
            most = middle - 1
    return least


def format_distinct(actual: float, limit: float) -> tuple[str, str]:
    """Formats two numbers with enough digits to show that they differ.

    >>> format_distinct(0.99999999, 1.0), format_distinct(0.5, 1.0)
    (('0.99999999', '1.0'), ('0.5', '1'))
    """
    short = f"{actual:g}", f"{limit:g}"
    return short if actual == limit or short[0] != short[1] else (repr(actual), repr(limit))


def _encode(value: Any) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:
        return f"<{type(value).__name__}>"


def json_type(value: Any) -> str:
    """Returns the JSON type of a value, in the words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {int: "number", float: "number", str: "text", list: "list", dict: "object"}
    return names.get(type(value), type(value).__name__)


def show_typed(value: Any, limit: int = 80) -> str:
    """Shows a value with its type, as in `number 1`; null has no value of its own to show.

    >>> show_typed(1), show_typed(None)
    ('number 1', 'null')
    """
    return "null" if value is None else f"{json_type(value)} {show(value, limit)}"


MAX_BACKTRACKING = 1_000_000
MAX_SURPLUS = 3
"""Fields that are named of those that a schema does not allow."""


class SchemaError(ValueError):
    """The value is not a JSON Schema."""


class Schema:
    """One compiled schema."""

    __slots__ = ("_required", "_validator")

    def __init__(self, schema: Any, *, judges_formats: bool = False) -> None:
        import jsonschema_rs  # imported only if a run has schemas

        self._required = schema.get("required", ()) if isinstance(schema, dict) else ()
        try:
            self._validator = jsonschema_rs.Draft202012Validator(
                schema,
                offline=True,
                validate_formats=judges_formats,
                pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=MAX_BACKTRACKING),
            )
        except Exception as error:  # noqa: BLE001  (panics of the library are not ValueError)
            path = "/".join(map(str, getattr(error, "instance_path", []) or []))
            raise SchemaError(f"this is not a JSON Schema (draft 2020-12){f', see {path}' if path else ''}") from None

    def first_difference(self, value: Any) -> str | None:
        """Returns where the value first violates the schema, as path and keyword, both marked; None if it fits.

        Of fields that are too many also their names, if it is known which.
        """
        for error in self._validator.iter_errors(value):
            path = "/".join(map(str, error.instance_path))
            if surplus := self._list_surplus(error, value):
                return f"{', '.join(map(mark_name, surplus))} {f'of {mark_name(path)} ' if path else ''}is not allowed"
            keyword = str(error.schema_path[-1]) if error.schema_path else "schema"
            return f"{mark_name(path) if path else 'the value'} fails {mark_name(keyword)}"
        return None

    def _list_surplus(self, error: Any, value: Any) -> list[str]:
        """The fields that a violation is about: those that the schema does not name."""
        if error.kind.name == "additionalProperties":
            found = error.kind.unexpected
        elif error.kind.name == "propertyNames":
            found = [error.kind.error.instance]
        elif error.kind.name == "maxProperties" and not error.instance_path and self._required:
            found = [each for each in value if each not in self._required]
        else:
            found = []
        return list(map(str, found[:MAX_SURPLUS]))
