"""Inserts scenarios into the text of an existing suite: its other lines and comments stay as they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.errors import Location, Problem, SuiteError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_KEY = re.compile(r"scenarios\s*:\s*(?P<rest>[^#]*?)\s*(?:#.*)?$")
_ITEM = re.compile(r"( *)-(?: |$)")


def find_indent(text: str, path: str) -> int:
    """How far the scenarios of a suite are indented; raises SuiteError if they are not a list of lines."""
    lines = text.splitlines()
    start, end = _find_block(lines, path)
    found = next((match for line in lines[start:end] if (match := _ITEM.match(line)) is not None), None)
    return 2 if found is None else len(found[1])


def find_end(text: str, path: str) -> int:
    """The number of lines up to the last one of the scenarios; raises SuiteError if that can't be found."""
    return _find_block(text.splitlines(), path)[1]


def insert_lines(text: str, path: str, scenarios: Iterable[str]) -> str:
    """The text with these lines after its last scenario; raises SuiteError if that can't be found."""
    end = find_end(text, path)
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    before = "".join(lines[:end])
    missing = "" if before.endswith(("\n", "\r")) else line_end
    return "".join([before, missing, *(f"{line}{line_end}" for line in scenarios), *lines[end:]])


def _find_block(lines: Sequence[str], path: str) -> tuple[int, int]:
    """The lines of the scenarios, without comments and blank lines after the last one."""
    start = next((at for at, line in enumerate(lines) if _KEY.fullmatch(line)), None)
    if start is None or (match := _KEY.fullmatch(lines[start])) is None or match["rest"]:
        message = "`scenarios:` is not a list with a line for each item, which a scenario could be added to"
        raise SuiteError(Problem(message, Location(path, None if start is None else start + 1)))
    end = start + 1
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if line.strip() and not line.startswith((" ", "- ", "#", "\t")):
            break
        if line.strip() and not line.startswith("#"):
            end = at + 1
    return start + 1, end
