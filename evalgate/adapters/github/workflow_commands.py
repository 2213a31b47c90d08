"""Formats and escapes workflow commands: the only way annotations reach the runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import logsafe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports import Annotation

LEVELS = ("error", "warning", "notice")
MOST_OF_A_LEVEL = 9
"""The runner drops all after the tenth annotation of a level in a step; the tenth counts the rest."""
MOST_LINES = 150
"""Annotations beyond the limit that a step's log lists as plain lines, so that they can't flood the log."""
NO_MORE = "The log tells no more of these: results.json does."
LONGEST_MESSAGE = 3_500
LONGEST_TITLE = 200


class Annotations:
    """Formats annotations as lines to print and counts the step's annotations of each level."""

    def __init__(self) -> None:
        self._printed = dict.fromkeys(LEVELS, 0)
        self._lines = 0

    def lines(self, annotations: Sequence[Annotation]) -> list[str]:
        """One command per annotation up to the limit; then the number of the others, and plain lines."""
        printed = []
        for level in LEVELS:
            of_level = [annotation for annotation in annotations if annotation.level == level]
            room = max(0, MOST_OF_A_LEVEL - self._printed[level])
            printed += [command(annotation) for annotation in of_level[:room]]
            printed += self._rest(level, of_level[room:])
            self._printed[level] += len(of_level)
        return printed

    def _rest(self, level: str, rest: Sequence[Annotation]) -> list[str]:
        if not rest:
            return []
        plain = self._plain(level, rest)
        if self._printed[level] > MOST_OF_A_LEVEL:  # the tenth was printed before
            return plain
        return [f"::{level}::{len(rest)} more in the log and in the results", *plain]

    def _plain(self, level: str, rest: Sequence[Annotation]) -> list[str]:
        """A plain line for each up to the limit, and a notice once it is reached."""
        before, self._lines = self._lines, self._lines + len(rest)
        told = [
            logsafe(f"{level}: {annotation.title}: {annotation.message}")
            for annotation in rest[: max(0, MOST_LINES - before)]
        ]
        return [*told, NO_MORE] if before <= MOST_LINES < self._lines else told


def command(annotation: Annotation) -> str:
    """`::error file=..,line=..,title=..::message`, escaped so that its text can't end or start a command."""
    file = _path(annotation.file)
    line = annotation.line if file else None
    properties = {
        "file": file,
        "line": line,
        "col": annotation.column if line else None,
        "title": logsafe(annotation.title, LONGEST_TITLE),
    }
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    return f"::{annotation.level} {given}::{_data(logsafe(annotation.message, LONGEST_MESSAGE))}"


def mask(secret: str) -> str:
    """The command that masks a secret in the log."""
    return f"::add-mask::{_data(secret)}"


def _path(path: str | None) -> str | None:
    """The path if it is printable plain text, otherwise None."""
    return path if path and path.isprintable() and "##[" not in path else None


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
