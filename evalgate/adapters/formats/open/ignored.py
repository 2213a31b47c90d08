"""Takes the fields that a suite ignores out of records before they are read."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.adapters.formats.core.builder.possible_calls import has_call_shape
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.core.format import EACH
from evalgate.models.trace.trace import describe_ignored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.core.format import Format, Reader
    from evalgate.models.trace.trace import Trace
    from evalgate.suite.models import Ignored

CALLS = "is ignored, but looks like a call: if it is not one, set `even_calls: true` beside it"


def filter_format(found: Format, ignored: Ignored) -> Format:
    """The format, with a reader that does not see the ignored fields."""
    reader = found.reader
    filtered = FilteredReader(reader, ignored)
    return replace(found, own_reader=replace(reader, split=filtered.split, build=filtered.build))


class FilteredReader:
    """Reads records without the ignored fields: of a document if the reader makes records that are no JSON of it."""

    def __init__(self, reader: Reader, ignored: Ignored) -> None:
        self._reader, self._ignored = reader, ignored
        self._found: list[str] = []

    def split(self, document: Any) -> Sequence[Any]:
        """The records of a document."""
        records = self._reader.split(document)
        if all(isinstance(each, dict | list) for each in records):
            return records
        self._found = remove(document, self._ignored)
        return self._reader.split(document) if self._found else records

    def build(self, record: Any) -> Trace:
        """The trace of a record, with a warning for each field that was left out."""
        found = remove(record, self._ignored) if isinstance(record, dict | list) else self._found
        trace = self._reader.build(record)
        for path in found:
            trace.warnings.append({"code": "ignored_field", "message": describe_ignored(path), "where": path})
        return trace


def remove(record: Any, ignored: Ignored) -> list[str]:
    """Takes the ignored fields out of a record, and returns the paths that it had; raises FieldError for calls."""
    found: list[str] = []
    for path in ignored.paths:
        steps = path.replace(EACH, f".{EACH}").removeprefix(".").split(".")
        if isinstance(record, list) and steps[0] != EACH:
            steps = [EACH, *steps]
        places = list(_find(record, steps))
        if not ignored.even_calls and any(has_call_shape(_get_value(*place)) for place in places):
            raise FieldError(f"`{path}`", CALLS)
        for holder, key in places:
            del holder[key]
        found += [path] if places else []
    return found


def _get_value(holder: Any, key: Any) -> Any:
    """The value of a field, or of an attribute that is a pair of key and value."""
    return holder[key] if isinstance(holder, dict) else holder[key].get("value")


def _find(value: Any, steps: list[str]) -> Iterator[tuple[Any, Any]]:
    """Each object and key at the end of a path; a key may hold dots, and an attribute of a span be a pair in a list."""
    if isinstance(value, list) and steps[0] == EACH:
        for each in value:
            yield from _find(each, steps[1:])
        return
    for count, name in enumerate(accumulate(steps, "{}.{}".format), 1):
        rest = steps[count:]
        if isinstance(value, dict) and name in value:
            yield from _find(value[name], rest) if rest else [(value, name)]
        elif isinstance(value, list) and not rest:
            numbers = [
                number for number, each in enumerate(value) if isinstance(each, dict) and each.get("key") == name
            ]
            yield from ((value, number) for number in reversed(numbers))
