"""What a format is: how it is recognised, and what reads it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import count, identifier
from evalgate.errors import TraceError
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.adapters.formats.core.read_limits import TraceLimits
    from evalgate.models.trace.trace import Trace, TraceLocation

Identity = tuple[str | None, int | None]


def only_one(value: Any) -> Sequence[Any]:
    """The records of a value that is one trace."""
    return [value]


@dataclass(frozen=True, slots=True)
class Headed:
    """How the files of a run find the one that says what holds for all of them.

    `folder` is the folder of the run that a file of this path belongs to; `is_heading` recognises the
    document that tells of the others. Each other file is read by itself, with the heading before it.
    """

    folder: Callable[[str], str]
    is_heading: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads one format.

    `split` makes records of a document: of the list of all a file's documents where the format's lines
    belong together. `build` makes a trace of a record or raises TraceError. `identify` tells the scenario id
    and trial of a record that `build` refused, as far as they can be read. `unpack` decodes a file that is no
    text. `join_keys` names what a file's documents share with those of other files: files that share a key
    are read as one. `headed` is for files of which one tells about all others of its folder.
    `at_once` makes the finished trace of a line that is plain, and None of every other: the same that the
    rest would make of it, but quicker. It is told the path below the glob's fixed part.
    """

    build: Callable[[Any], Trace]
    identify: Callable[[Any], Identity]
    split: Callable[[Any], Sequence[Any]] = only_one
    unpack: Callable[[bytes, TraceLimits], Iterator[Any]] | None = None
    join_keys: Callable[[Sequence[Any]], Iterable[str]] | None = None
    headed: Headed | None = None
    at_once: Callable[[Any, TraceLocation, str], Trace | None] | None = None

    def only_record(self, document: Any) -> Any:
        """The record of a document that holds exactly one; None for every other document."""
        try:
            records = self.split(document)
        except TraceError:
            return None
        return records[0] if len(records) == 1 else None


@dataclass(frozen=True, slots=True)
class Format:
    """How one format is recognised, cheaply: its reader is imported when the first file of it is found.

    `claims` says whether a decoded document or line is of the format; `needs` tells people what that takes.
    `together`: the lines of a file, whatever they hold, are one recording and not a record each.
    `magic` recognises files that are no text by their first bytes (at most 512).
    """

    name: str
    needs: str
    claims: Callable[[Any], bool]
    module: str
    together: bool = False
    magic: Callable[[bytes], bool] | None = None

    @property
    def reader(self) -> Reader:
        """What reads it."""
        return _reader_of(self.module)


@cache
def _reader_of(module: str) -> Reader:
    from importlib import import_module

    found: Reader = import_module(f"evalgate.adapters.formats.{module}").READER
    return found


def identity(scenario_id: Any, trial: Any) -> Identity:
    """Both as far as they are what they should be."""
    try:
        known = identifier(scenario_id, "")
    except TraceError:
        known = None
    try:
        return known, count(trial, "")
    except TraceError:
        return known, None


def no_identity(record: Any) -> Identity:
    """Of records that bear neither scenario id nor trial, or bear them where damage would show first."""
    del record
    return None, None


def first_object(value: Any) -> dict[str, Any]:
    """The value, or the first of a list of values, where that is an object; else an empty one."""
    first = value[0] if isinstance(value, list) and value else value
    return first if isinstance(first, dict) else {}
