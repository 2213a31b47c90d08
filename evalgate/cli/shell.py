"""What a verb knows of the shell it was called from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TextIO

from evalgate.records import dataclass
from evalgate.reporting.text.escaping import terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping

    from evalgate.errors import Problem
    from evalgate.models.trace.trace import TraceLocation

# What JSON leaves raw but a terminal may obey or hide: controls, marks of direction, blanks of no width.
_INVISIBLE = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class Shell:
    """Streams, environment and working folder, handed in so that nothing reads them in passing."""

    out: TextIO
    err: TextIO
    environ: Mapping[str, str]
    cwd: str

    @property
    def has_colour(self) -> bool:
        """True where the result goes to a terminal that wants colour."""
        return self.out.isatty() and "NO_COLOR" not in self.environ and self.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        """Columns to write for; a pipe has a hundred."""
        if not self.out.isatty():
            return 100
        import shutil

        return shutil.get_terminal_size((100, 24)).columns

    def say(self, text: str) -> None:
        """One line of result, on stdout."""
        self.out.write(f"{text}\n")

    def note(self, text: str) -> None:
        """One line about the work, on stderr."""
        self.err.write(f"{terminal(text)}\n")

    def tell(self, problems: Iterable[Problem], word: str = "error") -> None:
        """Mistakes, one line each: what, where, how to mend it."""
        for problem in problems:
            self.note(f"{word}: {problem}")


def add_plugins(parser: argparse.ArgumentParser) -> None:
    """The flag of verbs that compile suites: whose evaluators they may name beside the built-in ones."""
    parser.add_argument(
        "--plugin",
        action="append",
        metavar="MODULE",
        default=[],
        help="take own evaluators from it (repeatable)",
    )


def add_limits(parser: argparse.ArgumentParser, *, of_the_process: bool = False) -> None:
    """The flag of verbs that read what strangers may have written; all limits, or only those of a process."""
    from evalgate.settings.limits import LIMITS, PROCESS

    names = PROCESS if of_the_process else sorted(LIMITS)
    told = f"change a limit: {', '.join(names)}"
    parser.add_argument("--limit", action="append", metavar="NAME=VALUE", default=[], help=told)
    parser.set_defaults(limit_names=names)


def words(text: str) -> list[str]:
    """The words of a flag that takes several: `a,b`."""
    return [word.strip() for word in text.split(",") if word.strip()]


def visible_json(document: str) -> str:
    """The same JSON with every character to be seen."""
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def place_of(source: TraceLocation) -> str:
    """A file, with the line where it holds many."""
    return source.path if source.line is None else f"{source.path}:{source.line}"
