"""The streams, environment and folder that a verb runs with."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from evalgate.errors import SettingError
from evalgate.reporting.text.escaping import LOG_LIMIT, TEXT_LIMIT, escape_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.errors import Problem
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.trace.trace import TraceLocation
    from evalgate.reporting.terminal.run_table import Verbosity
    from evalgate.reporting.text.grouping import GroupedScenarios

STDOUT = "-"
_STDOUT_NAMES = (STDOUT, "/dev/stdout")
# Unescaped in JSON, but interpreted or hidden by terminals: controls, direction marks, zero-width spaces.
_INVISIBLE = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@contextmanager
def _report_lost_output() -> Iterator[None]:
    """Raises SettingError if stdout can't be written, except for a closed pipe."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise SettingError(f"can't write to stdout: {error.strerror or 'unknown error'}") from None


class Shell(NamedTuple):
    """Streams, environment and working directory, passed in so that no verb reads global state."""

    out: TextIO
    err: TextIO
    environ: Mapping[str, str]
    cwd: str
    stdin: TextIO | None = None  # None: nothing is asked

    @property
    def epoch(self) -> str | None:
        """SOURCE_DATE_EPOCH, which replaces the current time."""
        return self.environ.get("SOURCE_DATE_EPOCH")

    @property
    def is_terminal(self) -> bool:
        """Whether stdout is a terminal, not a file or a pipe."""
        return self.out.isatty()

    @property
    def has_colour(self) -> bool:
        """Whether to print colours: on a terminal that supports them, unless NO_COLOR or FORCE_COLOR decides."""
        if self.environ.get("NO_COLOR"):
            return False
        forced = self.environ.get("FORCE_COLOR")
        return forced != "0" if forced else self.is_terminal and self.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        """Columns of the terminal; 100 for a pipe."""
        if not self.is_terminal:
            return 100
        import shutil

        return shutil.get_terminal_size((100, 24)).columns

    def print_line(self, text: str) -> None:
        """Prints one line of the result to stdout; raises SettingError if it is lost."""
        with _report_lost_output():
            self.out.write(f"{text}\n")

    def print_safe(self, text: str) -> None:
        """Prints one line of the result that holds untrusted text, escaped for a terminal."""
        self.print_line(escape_terminal(text, None))

    def print_json(self, document: Any, *, indent: bool = True) -> None:
        """Prints a JSON document with invisible characters escaped."""
        import orjson
        from msgspec import to_builtins

        option = orjson.OPT_INDENT_2 if indent else 0
        self.print_line(escape_invisible(orjson.dumps(document, default=to_builtins, option=option).decode()))

    def print_results(
        self, results: ResultsDoc, verbosity: Verbosity = "normal", grouped: GroupedScenarios | None = None
    ) -> None:
        """Prints the table of a run's results."""
        from evalgate.reporting.terminal.run_table import render_table

        self.print_line(
            render_table(
                results,
                grouped,
                width=self.width,
                colour=self.has_colour,
                wraps_notes=self.is_terminal,
                verbosity=verbosity,
            )
        )

    def flush(self) -> None:
        """Writes what is printed so far; raises SettingError if it is lost."""
        with _report_lost_output():
            self.out.flush()

    def note(self, text: str) -> None:
        """Prints one line about the work to stderr, escaped; it is no result, so losing it changes nothing."""
        self._show_printed()
        with suppress(OSError):
            self.err.write(f"{escape_terminal(text, TEXT_LIMIT)}\n")

    def _show_printed(self) -> None:
        """Writes what is printed so far, so that lines on stderr come after it; what can't be written is kept."""
        with suppress(OSError):
            self.out.flush()

    def report_problems(self, problems: Iterable[Problem], level: str = "error") -> None:
        """Prints problems to stderr, one line each: what is wrong, where, how to fix it."""
        self._show_printed()
        for problem in problems:
            line = escape_terminal(f"{level}: {problem._replace(hint=None)}", LOG_LIMIT)
            remedy = (
                escape_terminal(f" ({problem.hint})", TEXT_LIMIT) if problem.hint else ""
            )  # never cut with the rest
            with suppress(OSError):
                self.err.write(f"{line}{remedy}\n")


def is_stdout(path: str) -> bool:
    """Whether a path that is to be written names stdout, where nothing else is printed then."""
    return path in _STDOUT_NAMES


def escape_invisible(document: str) -> str:
    """Escapes invisible characters in a JSON document."""
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def format_location(source: TraceLocation) -> str:
    """The path of a trace, with its line or number if the file holds several traces."""
    from evalgate.models.trace.trace import format_place

    return format_place(source.path, source.line, source.record)
