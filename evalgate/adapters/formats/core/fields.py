"""Checks and converts the values of recorded JSON fields; errors name the field."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.errors import TraceError
from evalgate.models.trace.trace import MAX_ID_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Read = Callable[[Any, str], Any]

# Real traces stay far below these bounds; sums over a whole run stay finite and within 64 bits.
LARGEST_NUMBER = 1e15
LARGEST_COUNT = 10**11
UTC_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")


class FieldError(TraceError):
    """A field that can't be read; `path` is its location in the record (`messages[3].content`)."""

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path} {problem}" if path else problem)

    def with_prefix(self, path: str) -> FieldError:
        """The same error with `path` put before its own."""
        if not path:
            return self
        join = "" if not self.path or self.path.startswith("[") else "."
        return FieldError(f"{path}{join}{self.path}", self.problem)


class prefix_errors:  # noqa: N801  (used like a function)
    """Puts `path`, and the index or the recorded key after it, before the location of a FieldError of the block.

    Readers enter a block for each message and part: the location is spelled only for an error.
    """

    __slots__ = ("_key", "_path")

    def __init__(self, path: str, key: int | str | None = None) -> None:
        self._path = path
        self._key = key

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, FieldError):
            key = self._key
            step = f"[{key}]" if isinstance(key, int) else "" if key is None else f".{make_printable(key)}"
            raise error.with_prefix(f"{self._path}{step}") from None


def to_snake_case(key: str) -> str:
    """A key in camel case as Python spells it.

    >>> to_snake_case("usageMetadata")
    'usage_metadata'
    """
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in key)


def to_camel_case(key: str) -> str:
    """A key with underscores as JavaScript spells it.

    >>> to_camel_case("usage_metadata")
    'usageMetadata'
    """
    head, *tail = key.split("_")
    return head + "".join(part.capitalize() for part in tail)


def plain_keys(recorded: dict[str, Any]) -> dict[str, Any]:
    """An object with keys as Python spells them, and without fields that are None."""
    return {to_snake_case(key): value for key, value in recorded.items() if value is not None}


def get_field(fields: dict[str, Any], name: str) -> Any:
    """A field by its name with underscores, else in camel case; None without it."""
    value = fields.get(name)
    return fields.get(to_camel_case(name)) if value is None else value


def in_both_spellings(names: Iterable[str]) -> frozenset[str]:
    """Names with underscores, as they are and in camel case."""
    return frozenset(spelling for name in names for spelling in (name, to_camel_case(name)))


def do_each(values: Iterable[Any], path: str, do_one: Callable[[dict[str, Any]], object]) -> None:
    """Calls `do_one` with every object of a list; raises FieldError naming the entry."""
    for number, value in enumerate(values):
        try:
            do_one(mapping(value, ""))
        except FieldError as error:
            raise error.with_prefix(f"{path}[{number}]") from None


class FieldTable:
    """The fields of a recorded object: by name, the function that reads each and the keys it is recorded under.

    Without keys the name is the key; of several keys the first that has a value is read; `a.b` is the field `b`
    of the object `a`. A function gets None for a field that is missing.

    >>> FieldTable(id=text, tokens=(count, "usage.total", "tokens")).read({"id": "r1", "usage": {"total": 3}})
    {'id': 'r1', 'tokens': 3}
    """

    __slots__ = ("_blank", "_fields", "_others", "_plain", "keys")

    def __init__(self, **fields: Read | tuple[Read, *tuple[str, ...]]) -> None:
        self._fields: dict[str, tuple[Read, list[str]]] = {}
        for name, field in fields.items():
            read, *keys = field if isinstance(field, tuple) else (field, name)
            self._fields[name] = read, keys
        self.keys = frozenset(key.partition(".")[0] for _, keys in self._fields.values() for key in keys)
        self._blank: dict[str, Any] = {}
        self._plain: list[tuple[str, Read, str]] = []
        self._others: list[tuple[str, Read, list[list[str]]]] = []

    def read(self, value: Any, path: str = "") -> Any:
        """The fields of an object (of an empty one for None) by name; raises FieldError naming the field."""
        recorded = mapping(value, path)
        if not self._blank:
            self._sort_fields()
        found, get = self._blank.copy(), recorded.get
        try:
            for name, read, key in self._plain:
                if (each := get(key)) is not None:
                    found[name] = read(each, key)
            for name, read, ways in self._others:
                found[name] = _read_first(read, recorded, ways)
        except FieldError as error:
            raise error.with_prefix(path) from None
        return found

    def _sort_fields(self) -> None:
        """Sorts out fields with one key and a plain value for None: these need no call if they are missing."""
        for name, (read, keys) in self._fields.items():
            try:
                self._blank[name] = read(None, name)
            except FieldError:
                self._blank[name] = self
            if keys == [keys[0].partition(".")[0]] and not isinstance(self._blank[name], dict | list | FieldTable):
                self._plain.append((name, read, keys[0]))
            else:
                self._others.append((name, read, [key.split(".") for key in keys]))

    def read_each(self, value: Any, path: str) -> list[Any]:
        """The fields of each object of a list, of an empty one for None."""
        return [self.read(item, f"{path}[{number}]") for number, item in enumerate(listing(value, path))]


def _read_first(read: Read, recorded: dict[str, Any], ways: list[list[str]]) -> Any:
    """Reads the first of several fields that has a value; if none has one, reads None as the first of them."""
    for way in ways:
        value: Any = recorded
        for key in way:
            if value.__class__ is not dict:
                value = _require_object(value, recorded, way)
            value = value.get(key)
            if value is None:
                break
        else:
            return read(value, ".".join(way))
    return read(None, ".".join(ways[0]))


def _require_object(value: Any, recorded: dict[str, Any], way: list[str]) -> dict[str, Any]:
    """The value if it is an object; raises FieldError that names the part of the way that leads to it."""
    inner: Any = recorded
    for depth, key in enumerate(way):
        if inner is value:
            return mapping(value, ".".join(way[:depth]))
        inner = inner.get(key)
    return mapping(value, ".".join(way))


def read_at(record: dict[str, Any], path: str, read: Read) -> Any:
    """The field `c` of inner objects at a path `a.b.c`, read by a function such as `text`; raises FieldError.

    >>> read_at({"a": {"b": 3}}, "a.b", count)
    3
    """
    return _read_first(read, record, [path.split(".")])


def any_value(value: Any, path: str) -> Any:
    """The value as recorded."""
    del path
    return value


def text(value: Any, path: str) -> str | None:
    """Text or None."""
    if value is None or type(value) is str:
        return value
    raise FieldError(path, "is not text")


def filled_text(value: Any, path: str) -> str | None:
    """Text that is not empty, or None."""
    return text(value, path) or None


def one_of(*words: str) -> Read:
    """A function that reads one of the words; None is the first of them."""

    def read(value: Any, path: str) -> str:
        if value is None:
            return words[0]
        if type(value) is not str or value not in words:
            raise FieldError(path, f"is not one of {', '.join(words)}")
        return value

    return read


def required_text(value: Any, path: str) -> str:
    """Text that is not empty."""
    if type(value) is str and value:
        return value
    raise FieldError(path, "is missing" if value is None else "is empty" if value == "" else "is not text")


def number(value: Any, path: str) -> float | None:
    """A number or None; true and "1" are not numbers."""
    if value is None:
        return None
    if type(value) is not float and type(value) is not int:
        raise FieldError(path, "is not a number")
    if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise FieldError(path, "is too large")
    return float(value)


def amount(value: Any, path: str) -> float | None:
    """A number of at least 0, or None."""
    found = number(value, path)
    if found is not None and found < 0:
        raise FieldError(path, "is negative")
    return found


def whole_number(value: Any, path: str) -> int | None:
    """A whole number or None."""
    if value is None:
        return None
    if type(value) is not int and not (type(value) is float and value.is_integer()):
        raise FieldError(path, "is not a whole number")
    if not -LARGEST_COUNT <= value <= LARGEST_COUNT:
        raise FieldError(path, "is too large")
    return int(value)


def count(value: Any, path: str) -> int | None:
    """A whole number of at least 0, or None."""
    found = whole_number(value, path)
    if found is not None and found < 0:
        raise FieldError(path, "is negative")
    return found


def flag(value: Any, path: str) -> bool | None:
    """True, false or None."""
    if value is None or type(value) is bool:
        return value
    raise FieldError(path, "is neither true nor false")


def mapping(value: Any, path: str) -> dict[str, Any]:
    """An object; an empty one for None."""
    if value is None:
        return {}
    if type(value) is dict:
        return value
    raise FieldError(path, "is not an object")


def dict_or_empty(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any, path: str) -> list[Any]:
    """A list; an empty one for None."""
    if value is None:
        return []
    if type(value) is list:
        return value
    raise FieldError(path, "is not a list")


def objects(value: Any, path: str) -> list[dict[str, Any]]:
    """A list of objects; an empty one for None."""
    return [mapping(each, f"{path}[{number}]") for number, each in enumerate(listing(value, path))]


def first_entry(value: Any, path: str) -> dict[str, Any]:
    """The first object of a list; an empty one for an empty list or None."""
    entries = listing(value, path)
    return mapping(entries[0], f"{path}[0]") if entries else {}


def identifier(value: Any, path: str) -> str | None:
    """An id as text of at most 512 characters, or None; a number becomes its decimal text."""
    if value is None:
        return None
    if type(value) is int or type(value) is float:
        value = _format_decimal(value)
    if type(value) is not str:
        raise FieldError(path, "is neither text nor a number")
    if not value:
        raise FieldError(path, "is empty")
    if len(value) > MAX_ID_LENGTH:
        raise FieldError(path, f"is longer than {MAX_ID_LENGTH} characters")
    return value


def time(value: Any, path: str) -> str | None:
    """A time as RFC 3339 in UTC, or None; a time without a zone is taken as UTC."""
    found = text(value, path)
    if found is None or UTC_TIME.fullmatch(found):
        return found
    try:
        moment = datetime.fromisoformat(found)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise FieldError(path, "is not an RFC 3339 time") from None
    return moment.isoformat().replace("+00:00", "Z")


def time_if_valid(value: Any) -> str | None:
    """A time, also in milliseconds since 1970; None for what is none, as where a run is read without its clock."""
    try:
        return read_timestamp(value, "")
    except FieldError:
        return None


def milliseconds_between(started: str | None, ended: str | None) -> float | None:
    """Milliseconds from one time to the other; None if one is unknown or the end is before the start."""
    if started is None or ended is None:
        return None
    try:
        seconds = (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds()
    except ValueError:
        return None
    return round(seconds * 1000, 6) if seconds >= 0 else None


def describe_shape(value: Any) -> str:
    """Describes the shape of a value, for the "found" part of an error."""
    if isinstance(value, dict):
        names = ", ".join(f"`{make_printable(key)}`" for key in list(value)[:8])
        return f"an object with {names}" if names else "an empty object"
    if isinstance(value, list):
        return f"a list of {describe_shape(value[0])}" if value and isinstance(value[0], dict) else "a list"
    return "text" if isinstance(value, str) else "a single value"


def _format_decimal(value: float) -> str:
    if type(value) is int:
        return str(value)
    from decimal import Decimal

    return str(int(value)) if value.is_integer() else format(Decimal(repr(value)), "f")


UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (0.0, 1.0))
"""(smallest value, units per second): nanoseconds, microseconds, milliseconds, seconds."""
MAX_TIMESTAMP = 1e20


def read_timestamp(value: Any, path: str) -> str | None:
    """A time as RFC 3339 in UTC, or None; raises FieldError."""
    if type(value) is not int and type(value) is not float:
        return time(value, path)
    if not 0 < value < MAX_TIMESTAMP:
        number(value, path)
        raise FieldError(path, "is not a valid time")
    per_second = next(per_second for least, per_second in UNITS if value >= least)
    return datetime.fromtimestamp(value / per_second, UTC).isoformat().replace("+00:00", "Z")


EXIT_CODES = ("exit_code", "exitCode", "returncode")
END_FLAGS = ("error", "is_error", "isError")
END_FIELDS = frozenset({"status", "exception", *END_FLAGS, *EXIT_CODES})
"""Fields beside the messages that say how the run ended."""
