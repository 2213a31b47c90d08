"""Parses JSON Lines, one document per line with its location; refuses duplicate keys and NaN."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evalgate.errors import Location, Problem, SuiteError
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_VALUES = 200_000
"""Brackets, commas and colons of a line, which is about the number of values."""


class _InvalidJsonError(ValueError):
    pass


@dataclass(slots=True)
class LineDocument:
    """A JSON document from one line or a whole file; locations in it are not more precise."""

    file: str
    line: int | None
    value: Any

    def locate(self, path: tuple[str | int, ...]) -> Location:  # noqa: ARG002  (a Document's signature)
        """The location of the line, or of the file."""
        return Location(self.file, self.line)


def json_document(text: str, file: str) -> LineDocument:
    """Parses a whole file as JSON, without locations. Raises SuiteError."""
    return LineDocument(file, None, _parse_value(text, Location(file)))


def json_lines(text: str, file: str) -> Iterator[LineDocument]:
    """Parses each line that is not blank. Raises SuiteError naming the line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield LineDocument(file, number, _parse_value(line, Location(file, number)))


def _parse_value(line: str, location: Location) -> Any:
    if sum(map(line.count, ",[{:")) > MAX_VALUES:
        raise SuiteError(Problem(f"a document may hold {MAX_VALUES:,} values", location))
    try:
        return json.loads(line, object_pairs_hook=_build_unique_dict, parse_constant=_refuse_constant)
    except _InvalidJsonError as error:
        raise SuiteError(Problem(str(error), location)) from None
    except json.JSONDecodeError as error:
        message = f"no JSON document: it breaks off at column {error.colno}"
        raise SuiteError(Problem(message, location)) from None
    except (ValueError, RecursionError):
        raise SuiteError(Problem("no JSON document that could be meant", location)) from None


def _build_unique_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _InvalidJsonError(f"the key `{name[:60]}` stands twice")
        found[name] = value
    return found


def _refuse_constant(word: str) -> Any:
    raise _InvalidJsonError(f"{word} is no number")
