"""What a verb knows of the shell it was called from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from evalgate.reporting.doors import terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping

    from evalgate.errors import Problem


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


def words(text: str) -> list[str]:
    """The words of a flag that takes several: `a,b`."""
    return [word.strip() for word in text.split(",") if word.strip()]
