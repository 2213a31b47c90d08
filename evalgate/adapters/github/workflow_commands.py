"""Formats and escapes workflow commands: the only way annotations reach the runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import escape_log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports import Annotation

LEVELS = ("error", "warning", "notice")
MAX_PER_LEVEL = 9
"""The runner drops all after the tenth annotation of a level in a step; the tenth counts the rest."""
MAX_PLAIN_LINES = 150
"""Annotations beyond the limit that a step's log lists as plain lines, so that they can't flood the log."""
CUT_NOTICE = "The log tells no more of these: results.json does."
LONGEST_MESSAGE = 3_500
LONGEST_TITLE = 200


class AnnotationFormatter:
    """Formats annotations as lines to print and counts the step's annotations of each level."""

    def __init__(self) -> None:
        self._printed = dict.fromkeys(LEVELS, 0)
        self._plain_line_count = 0

    def lines(self, annotations: Sequence[Annotation]) -> list[str]:
        """One command per annotation up to the limit; then the number of the others, and plain lines."""
        printed = []
        for level in LEVELS:
            of_level = [annotation for annotation in annotations if annotation.level == level]
            free = max(0, MAX_PER_LEVEL - self._printed[level])
            printed += [format_command(annotation) for annotation in of_level[:free]]
            printed += self._format_rest(level, of_level[free:])
            self._printed[level] += len(of_level)
        return printed

    def _format_rest(self, level: str, rest: Sequence[Annotation]) -> list[str]:
        if not rest:
            return []
        plain = self._plain_lines(level, rest)
        if self._printed[level] > MAX_PER_LEVEL:  # the tenth was printed before
            return plain
        return [f"::{level}::{len(rest)} more in the log and in the results", *plain]

    def _plain_lines(self, level: str, rest: Sequence[Annotation]) -> list[str]:
        """A plain line for each up to the limit, and a notice once it is reached."""
        count, self._plain_line_count = self._plain_line_count, self._plain_line_count + len(rest)
        lines = [
            escape_log(f"{level}: {annotation.title}: {annotation.message}")
            for annotation in rest[: max(0, MAX_PLAIN_LINES - count)]
        ]
        return [*lines, CUT_NOTICE] if count <= MAX_PLAIN_LINES < self._plain_line_count else lines


def format_command(annotation: Annotation) -> str:
    """`::error file=..,line=..,title=..::message`, escaped so that its text can't end or start a command."""
    file = _safe_path(annotation.file)
    line = annotation.line if file else None
    properties = {
        "file": file,
        "line": line,
        "col": annotation.column if line else None,
        "title": escape_log(annotation.title, LONGEST_TITLE),
    }
    given = ",".join(f"{name}={_escape_property(str(value))}" for name, value in properties.items() if value)
    return f"::{annotation.level} {given}::{_escape_data(escape_log(annotation.message, LONGEST_MESSAGE))}"


def format_mask(secret: str) -> str:
    """The command that masks a secret in the log."""
    return f"::add-mask::{_escape_data(secret)}"


def _safe_path(path: str | None) -> str | None:
    """The path if it is printable plain text, otherwise None."""
    return path if path and path.isprintable() and "##[" not in path else None


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
