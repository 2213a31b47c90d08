"""Writes a workflow step's log, annotations, outputs and summary."""

from __future__ import annotations

import base64
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from evalgate.models.github import Annotation
from evalgate.reporting.text.escaping import escape_log

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LARGEST_SUMMARY = 1024 * 1024
"""Bytes; the runner drops a larger summary entirely."""
CUT = "\n\n(The rest is left out: a job summary is limited to 1 MiB.)\n"
SHORTEST_SECRET = 8
HIDDEN = "***"
NAME = re.compile(r"[a-z][a-z0-9-]*")


class WorkflowStep:
    """Implements `StepOutput`. Every printed line is escaped; files are appended to, never replaced."""

    def __init__(self, console: TextIO, output_file: str = "", summary_file: str = "") -> None:
        self._console = console
        self._output_file = output_file
        self._summary_file = summary_file
        self._annotations = AnnotationFormatter()
        self._secrets: list[str] = []
        self.values: dict[str, str] = {}  # outputs set so far
        self.has_lost_outputs = False

    def hide(self, secret: str) -> None:
        """Has the runner mask a secret in the log, and redacts it in all that this step writes."""
        for spelling in (secret, base64.b64encode(secret.encode()).decode()):
            self._print(format_mask(spelling))
            if len(spelling) >= SHORTEST_SECRET:
                self._secrets.append(spelling)

    def outputs(self, values: Mapping[str, str]) -> None:
        """Sets step outputs; a name set again takes the newer value.

        If the file can't be written, that is an error once, and `has_lost_outputs` is set.
        """
        values = {name: self._without_secrets(value) for name, value in values.items()}
        self.values.update(values)
        if not self._output_file or not values or self.has_lost_outputs:
            return
        try:
            _append(self._output_file, "".join(map(_assignment, values, values.values())).encode(errors="replace"))
        except OSError as error:
            self.has_lost_outputs = True
            self._report_file("error", "the step's outputs (GITHUB_OUTPUT)", error)

    def summary(self, markdown: str) -> None:
        """Adds to the job summary, cut at a line's end if the runner would drop it; failing is a warning."""
        if not self._summary_file:
            return
        content = f"{self._without_secrets(markdown).rstrip()}\n".encode(errors="replace")
        path = Path(self._summary_file)
        try:
            space = LARGEST_SUMMARY - (path.stat().st_size if path.exists() else 0)
            if len(content) > space:
                content = content[: max(0, space - len(CUT.encode()))].rpartition(b"\n")[0] + CUT.encode()
            if len(content) <= space:
                _append(self._summary_file, content)
        except OSError as error:
            self._report_file("warning", "the job summary", error)

    def annotate(self, annotations: Sequence[Annotation]) -> None:
        """Prints annotations, at most nine of a level in the whole step, then a count."""
        for line in self._annotations.lines(annotations):
            self._print(self._without_secrets(line))

    def log(self, line: str) -> None:
        """Prints one line of untrusted text, escaped."""
        self._print(self._without_secrets(escape_log(line)))

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def _report_file(self, level: Literal["error", "warning"], what: str, error: OSError) -> None:
        self.annotate([Annotation(level, "EvalGate", f"{what} can't be written: {error.strerror or 'unknown error'}")])

    def _print(self, line: str) -> None:
        """Prints a line. A log that can't be written changes no verdict, which is also in the outputs."""
        with suppress(OSError):
            self._console.write(f"{line}\n")
            self._console.flush()


def _assignment(name: str, value: str) -> str:
    """`name=value`; a value with line breaks is put between random delimiters, which no one can guess."""
    if not NAME.fullmatch(name):
        raise ValueError("the name of an output may contain only letters, digits and hyphens")
    if "\n" not in value and "\r" not in value:
        return f"{name}={value}\n"
    delimiter = f"evalgate_{os.urandom(16).hex()}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(path: str, content: bytes) -> None:
    with Path(path).open("ab") as file:
        file.write(content)


LEVELS = ("error", "warning", "notice")
MAX_PER_LEVEL = 9
"""The runner drops all after the tenth annotation of a level in a step; the tenth counts the rest."""
MAX_PLAIN_LINES = 150
"""Annotations beyond the limit that a step's log lists as plain lines, so that they can't flood the log."""
CUT_NOTICE = "The log leaves out the rest; results.json lists them."
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
