"""Reads from a patch, as `git diff` writes it, which files the run changed: the headers, and whether it is whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.trace.trace import FileState, Trace

Change = Literal["added", "removed", "changed"]
MOST_FILES = 10_000
"""Files of one patch, as many as `record --state-files` keeps."""
_BEGIN = "diff --git "
_BINARY = "GIT binary patch"
_HEADER = re.compile(
    r"(?:(?:old|new|deleted file|new file) mode|(?:copy|rename) (?:from|to)|(?:dis)?similarity index|index|---|\+\+\+"
    r"|Binary files) "
)
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_STRIPPED = 3
"""Blank lines of context at the end of a patch that go with the blanks around a text."""
_EMPTY_BLOB = "e69de29"
"""How the digest of an empty file begins."""
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_SIGNS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


class _UnreadError(Exception):
    """The patch does not show all that changed; the message has the reason."""


class _Section(NamedTuple):
    """What a patch has about one file: the lines of its header, and whether hunks follow."""

    header: list[str]
    has_hunks: bool


def begins_patch(value: str) -> bool:
    """Whether a text begins as a patch does, after blanks."""
    return value.lstrip().startswith(_BEGIN)


def set_changed_files(trace: Trace, patch: str, where: str) -> None:
    """Sets the files that the patch changed, none if it is blank; a warning at `where` if it does not show them."""
    try:
        trace.state = {"files": _read_changes(patch)}
    except _UnreadError as error:
        message = f"the files that the run changed are not known: the patch {error}"
        trace.warnings.append({"code": "unread_patch", "message": message, "where": where})


def _read_changes(patch: str) -> dict[str, FileState]:
    files: dict[str, FileState] = {}
    for section in _split(patch.strip().split("\n") if patch.strip() else []):
        for path, change in _read_section(section):
            _require_inside(path)
            # A file that became a link, or the other way around, is removed and added.
            files[path] = {"change": "changed" if path in files else change}
        if len(files) > MOST_FILES:
            raise _UnreadError(f"has more than {MOST_FILES:,} files")
    return dict(sorted(files.items()))


def _split(lines: list[str]) -> Iterator[_Section]:
    """Yields the sections; raises _UnreadError for a line that belongs to none and for a hunk that lacks lines."""
    at = 0
    while at < len(lines):
        start, at = at, _find_header_end(lines, at)
        header = [line.removesuffix("\r") for line in lines[start:at]]
        body = at
        while at < len(lines) and (hunk := _HUNK.match(lines[at])):
            at = _skip_hunk(lines, at + 1, *(1 if each is None else int(each) for each in hunk.groups()))
        yield _Section(header, has_hunks=at > body)


def _find_header_end(lines: list[str], at: int) -> int:
    if not lines[at].startswith(_BEGIN):
        raise _UnreadError(f"has a line {at + 1} that is of no file")
    at += 1
    is_binary = False
    while at < len(lines) and not lines[at].startswith(("diff ", "@@")):
        is_binary = is_binary or lines[at].startswith(_BINARY)
        if not is_binary and _HEADER.match(lines[at]) is None:
            raise _UnreadError(f"has a line {at + 1} that is of no file")
        at += 1
    return at


def _skip_hunk(lines: list[str], at: int, old: int, new: int) -> int:
    """The position after a hunk of so many lines before and after the change."""
    while (old > 0 or new > 0) and at < len(lines):
        sign = lines[at][:1]
        if sign not in ("", "\r", " ", "-", "+", "\\"):
            raise _UnreadError(f"has a line {at + 1} that is of no file")
        old -= sign not in ("+", "\\")
        new -= sign not in ("-", "\\")
        at += 1
    if old != new or not 0 <= old <= _STRIPPED:
        raise _UnreadError("breaks off within a file")
    while at < len(lines) and lines[at].startswith("\\"):
        at += 1
    return at


def _read_section(section: _Section) -> list[tuple[str, Change]]:
    """The paths of a section, each with what happened to it."""
    named = {}
    for line in section.header[1:]:
        for field in ("new file mode", "deleted file mode", "new mode", "rename from", "rename to", "copy to"):
            if line.startswith(f"{field} "):
                named[field] = line[len(field) + 1 :]
    if not section.has_hunks and not _is_whole(section.header, named):
        raise _UnreadError("breaks off within a file")
    if "rename to" in named and "rename from" in named:
        return [(_unquote(named["rename from"]), "removed"), (_unquote(named["rename to"]), "added")]
    if "copy to" in named:
        return [(_unquote(named["copy to"]), "added")]
    change: Change = "added" if "new file mode" in named else "removed" if "deleted file mode" in named else "changed"
    return [(_read_path(section.header[0].removeprefix(_BEGIN)), change)]


def _is_whole(header: list[str], named: dict[str, str]) -> bool:
    """Whether a section without hunks can be all of it: a binary or empty file, another mode or another name."""
    index = next((line for line in header if line.startswith("index ")), None)
    if index is None:
        return bool({"new mode", "rename to", "copy to"} & named.keys())
    is_binary = any(line.startswith(("Binary files ", _BINARY)) for line in header)
    return is_binary or any(part.startswith(_EMPTY_BLOB) for part in re.split(r"[ .]+", index))


def _read_path(names: str) -> str:
    """The path of the first line of a section, which has it twice, mostly below `a/` and `b/`."""
    middle = len(names) // 2
    one, other = names[:middle], names[middle + 1 :]
    old, new = _unquote(one), _unquote(other)
    if names[middle : middle + 1] == " " and old == new:
        return new
    if names[middle : middle + 1] == " " and old[1:] == new[1:] and new[1:2] == "/":
        return new[2:]
    raise _UnreadError("names a file in a way that can't be read")


def _unquote(name: str) -> str:
    """A name without the quotes and escapes of a program in C; bytes that are no UTF-8 stay escaped."""
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    return _ESCAPE.sub(_read_escape, name[1:-1].encode("utf-8", "replace")).decode("utf-8", "backslashreplace")


def _read_escape(found: re.Match[bytes]) -> bytes:
    sign = found[1]
    return bytes([int(sign, 8)]) if len(sign) == 3 else _SIGNS.get(sign, sign)  # noqa: PLR2004


def _require_inside(path: str) -> None:
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise _UnreadError("names a file outside of its folder")
