"""Defines a trace format (`Format`: how it is recognised), its reader (`Reader`) and the limits on what is read.

Imports no reader, so it loads fast.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from evalgate.adapters.formats.core.fields import count, identifier
from evalgate.errors import OverLimit, Problem, TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.models.trace.trace import Trace

EACH = "[]"
"""In the path of a shape: each entry of a list."""

Identity = tuple[str | None, int | None]


def split_single(value: Any) -> Sequence[Any]:
    """The only record of a document that is one trace."""
    return [value]


def split_list(document: Any) -> Sequence[Any]:
    """The records of a document that is a list of them, or one."""
    return document if isinstance(document, list) else [document]


class HeadingRule(Struct, frozen=True):
    """How the files of a run find the heading: the file with facts that hold for all of them.

    `folder` returns the run's folder for the path of one of its files; `is_heading` recognises the
    heading's document. Each other file is read by itself, with the heading's document before its own.
    """

    folder: Callable[[str], str]
    is_heading: Callable[[Any], bool]


class RunOfFile(NamedTuple):
    """Which run the lines of a file belong to: `runs` are the ids of it, `own` that by which parts of a part name it.

    `is_whole`: the lines are a run of their own, whatever the name of their file. `start` is the id of their first
    message.
    """

    runs: Sequence[str] = ()
    own: str | None = None
    is_whole: bool = False
    start: str | None = None


class PartFolder(NamedTuple):
    """A folder in which a run's parts may be; `is_of_run`: every part in it, at any depth, is this run's."""

    path: str
    is_of_run: bool = False


class BesideRule(Struct, frozen=True):
    """How a file finds others beside it that hold parts of the same run, whether or not they were asked for.

    `prefix` begins the name of every part; one of its first `head_lines` lines names its run. `is_part` is whether
    a file may be one by its name; `describe` returns which run lines belong to. `list_folders` returns where the
    parts of a run are, by the folder and stem of its file and the ids of its runs; `find_outer` the folder of that
    file for the folder of a part. `join` returns the lines of a run with those of its parts by path. `mark_copies`
    returns its lines with those marked that it has from others: runs of files in its folder that begin with the
    same message. `journal` names a file beside the parts in a run's own folder; it is given to `join` with them.
    """

    prefix: str
    head_lines: int
    is_part: Callable[[str], bool]
    describe: Callable[[Sequence[Any]], RunOfFile]
    list_folders: Callable[[str, str, Sequence[str]], list[PartFolder]]
    find_outer: Callable[[str], str]
    join: Callable[[Sequence[Any], Sequence[tuple[str, list[Any]]]], list[Any]]
    mark_copies: Callable[[Sequence[Any], Iterable[Sequence[Any]]], list[Any]] | None = None
    journal: str = ""


class Shape(NamedTuple):
    """Objects at one place of a record; a record that is a list takes the place of the first shape's first field.

    `fields` may hold objects or lists; None if the fields are not checked. `kinds` are the values of
    `kind_key` that are read or known to be no calls; None if they are not checked.
    """

    path: tuple[str, ...]
    fields: frozenset[str] | None = None
    kinds: frozenset[str] | None = None
    kind_key: str = "type"


class Reader(Struct, frozen=True):
    """The functions that read one format.

    `split` returns the records of a document, or of the list of all documents of a file if the format joins
    lines. `build` returns the trace of a record or raises TraceError. `identify` returns the scenario id and
    trial of a record that `build` refused, as far as they can be read. `unpack` decodes a binary file.
    `join_keys` returns what a file's documents share with other files: files with a common key are read as
    one. `heading_rule` is for folders where one file describes all others, `beside` for files with parts beside them.
    `without_calls` names fields in which an object with a name and arguments is not a call, such as scores;
    `not_tools` are names that are no tool's, such as those of events;
    `copy_flag` is the field that is true in an object which repeats what another record holds.
    `keeps_record`: a record can be read again by itself, so that a baseline keeps it as it was read.
    `shapes` are the fields and types that the reader knows; others make the evidence of calls incomplete. Each reader
    states them: `()` says that `build` notes what it does not know, or that another reader builds its traces.
    `reads_fields` are the fields of a record that are read whole, beside those where the shapes begin.
    `reads_texts`: the texts of messages are read for calls, so that none in them is missed.
    `is_of_one_agent`: a record holds the messages of the main agent, not those of agents that its calls start.
    `read_path` returns scenario id and variant from the path of a file of one trace, where the path holds them.
    """

    build: Callable[[Any], Trace]
    identify: Callable[[Any], Identity]
    shapes: tuple[Shape, ...]
    split: Callable[[Any], Sequence[Any]] = split_single
    unpack: Callable[[bytes, TraceLimits], Iterator[Any]] | None = None
    join_keys: Callable[[Sequence[Any]], Iterable[str]] | None = None
    heading_rule: HeadingRule | None = None
    beside: BesideRule | None = None
    without_calls: frozenset[str] = frozenset()
    not_tools: frozenset[str] = frozenset()
    copy_flag: str = ""
    keeps_record: bool = False
    reads_fields: frozenset[str] = frozenset()
    reads_texts: bool = False
    is_of_one_agent: bool = False
    read_path: Callable[[str], tuple[str | None, str | None]] | None = None


class Format(Struct, frozen=True):
    """How one format is recognised; its reader is imported from `module` when the first file of the format is found.

    `claims` checks whether a decoded document or line is of the format; `needs` describes that for errors.
    `joins_lines`: the lines of a file always form one trace, not one record each.
    `magic` recognises binary files by their first bytes (at most 512). `reader_name` is the Reader in `module`.
    """

    name: str
    needs: str
    claims: Callable[[Any], bool]
    module: str = ""
    reader_name: str = "READER"
    joins_lines: bool = False
    magic: Callable[[bytes], bool] | None = None
    own_reader: Reader | None = None

    @property
    def reader(self) -> Reader:
        """The reader of the format."""
        return self.own_reader or _load_reader(self.module, self.reader_name)


@cache
def _load_reader(module: str, name: str) -> Reader:
    from importlib import import_module

    found: Reader = getattr(import_module(f"evalgate.adapters.formats.{module}"), name)
    return found


def build_identity(scenario_id: Any, trial: Any) -> Identity:
    """Scenario id and trial; None for each that is invalid."""
    try:
        valid_id = identifier(scenario_id, "")
    except TraceError:
        valid_id = None
    try:
        return valid_id, count(trial, "")
    except TraceError:
        return valid_id, None


def no_identity(record: Any) -> Identity:
    """For records without scenario id and trial, or where those can't be read if `build` failed."""
    del record
    return None, None


def words(text: str) -> frozenset[str]:
    """The words of a text, such as names of fields or types.

    >>> sorted(words("id name"))
    ['id', 'name']
    """
    return frozenset(text.split())


def first_object(value: Any) -> dict[str, Any]:
    """The value, or the first entry of a list, if that is an object; else an empty object."""
    first = value[0] if isinstance(value, list) and value else value
    return first if isinstance(first, dict) else {}


MEGABYTE = 1_000_000
GIGABYTE = 1000 * MEGABYTE


class TraceLimits(Struct, frozen=True):
    """Bytes, after unpacking. `total_bytes` is for all files of a run; None means no limit.

    `whole_file_bytes` is for binary files and files whose lines form one trace: they are read whole.
    At most `kept_bytes` of such files stay in memory until the files they are joined with are read; the
    rest is read twice. `messages` is a number: the maximum of messages, and of tool calls, in a trace.
    """

    record_bytes: int = 25 * MEGABYTE
    whole_file_bytes: int = 100 * MEGABYTE
    kept_bytes: int = 50 * MEGABYTE
    unpacked_file_bytes: int = 2 * GIGABYTE
    total_bytes: int | None = None
    messages: int = 100_000


class ReadBudget:
    """Counts the bytes read by a run and refuses more than its total."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self.used = 0

    def take(self, size: int) -> None:
        """Counts `size` bytes; raises OverLimit if the total is exceeded."""
        self.used += size
        if self._total is not None and self.used > self._total:
            message = f"the traces are larger than {self._total:,} bytes in total"
            raise OverLimit(Problem(message, None, "raise limit `traces`"))


MAX_MESSAGES = 50
LIST_KEYS = ("messages", "input", "items")
MESSAGE_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def split_each(is_conversation: Callable[[Any], bool]) -> Callable[[Any], list[Any]]:
    """A `split` function for documents that are one conversation, or a list of them."""

    def split(document: Any) -> list[Any]:
        return [document] if is_conversation(document) or not isinstance(document, list) else document

    return split


def claim_one_or_list(is_conversation: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Returns a `claims` function that accepts one conversation or a list of them."""

    def claims(value: Any) -> bool:
        return is_conversation(value) or (
            isinstance(value, list) and bool(value) and _is_listed_conversation(value[0], is_conversation)
        )

    return claims


def _is_listed_conversation(value: Any, is_conversation: Callable[[Any], bool]) -> bool:
    """A single message is not a conversation, so a list of messages is not a list of conversations."""
    return (isinstance(value, list) or _is_document(value)) and is_conversation(value)


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and ("role" not in value or is_anthropic_response(value))


def get_first_messages(value: Any, keys: tuple[str, ...] = LIST_KEYS) -> list[dict[str, Any]]:
    """The first messages of one conversation, of any format; entries that are not objects are dropped."""
    if isinstance(value, dict):
        value = next((value[key] for key in keys if isinstance(value.get(key), list)), [])
    found = value[:MAX_MESSAGES] if isinstance(value, list) else []
    return [message for message in found if isinstance(message, dict)]


def _list_block_types(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return [block.get("type") for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def has_block(value: Any, kinds: frozenset[str]) -> bool:
    """Whether a message of a conversation has a content block of one of these types."""
    messages = get_first_messages(value, ("messages",))
    return any(
        type(kind) is str and kind in kinds
        for message in messages
        if has_message_role(message)
        for kind in _list_block_types(message)
    )


def has_message_role(message: dict[str, Any]) -> bool:
    """Whether the message has one of the known roles."""
    role = message.get("role")
    return type(role) is str and role in MESSAGE_ROLES


def is_anthropic_response(value: Any) -> bool:
    """True for a raw response of Anthropic's Messages API."""
    return (
        isinstance(value, dict)
        and value.get("type") == "message"
        and value.get("role") == "assistant"
        and isinstance(value.get("content"), list)
        and "stop_reason" in value
    )
