"""Lines and columns of text for a terminal, escaped and wrapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence


COLOURS = {"red": "\x1b[31m", "yellow": "\x1b[33m", "green": "\x1b[32m", "dim": "\x1b[2m"}
RESET = "\x1b[0m"
VERDICT_COLOURS = {"PASS": "green", "PARTIAL": "yellow", "NOT_EVALUABLE": "yellow"}
MIN_WIDTH, MAX_TEXT = 60, 2_000
LABEL_WIDTH = 9
OUTCOME_WIDTH = 14


class TerminalPage:
    """Collects lines; colour codes come from this class only, since texts are escaped."""

    def __init__(self, width: int, *, colour: bool) -> None:
        self._width = max(width, MIN_WIDTH)
        self._colour = colour
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def add_heading(self, word: str, text: str, colour: str) -> None:
        """Adds the first line: a coloured word and a name."""
        self._append_labelled(f"{escape_terminal(word)}  ", text, colour)

    def add_blank(self) -> None:
        """Adds an empty line."""
        self._lines.append("")

    def add_title(self, text: str) -> None:
        """Adds the title of a part, after an empty line."""
        self._lines.append("")
        self._append_wrapped("", text)

    def add_fact(self, label: str, text: str) -> None:
        """Adds a text after its label."""
        self._append_wrapped(f"  {label.ljust(LABEL_WIDTH)}", text)

    def add_text(self, text: str, *, indent: int, limit: int | None = MAX_TEXT) -> None:
        """Adds a wrapped text."""
        self._append_wrapped(" " * indent, text, limit)

    def add_command(self, text: str, *, indent: int) -> None:
        """Adds a command in one line, so that it can be copied."""
        self._lines.append(f"{' ' * indent}{escape_terminal(text, None)}")

    def add_coloured(self, text: str, colour: str, *, indent: int) -> None:
        """Adds a coloured text."""
        start = len(self._lines)
        self._append_wrapped(" " * indent, text)
        self._lines[start:] = [self._paint(line, colour) for line in self._lines[start:]]

    def add_labelled(self, word: str, text: str, colour: str, *, indent: int) -> None:
        """Adds a text after a coloured word."""
        self._append_labelled(
            f"{' ' * indent}{escape_terminal(word, OUTCOME_WIDTH).ljust(OUTCOME_WIDTH)}", text, colour
        )

    def add_diff_line(self, sign: str, text: str, *, indent: int) -> None:
        """Adds a diff line: `-` in red, `+` in green, `~` in yellow, a blank without colour."""
        start = len(self._lines)
        self._append_wrapped(f"{' ' * indent}{sign or ' '} ", text)
        colour = {"-": "red", "+": "green", "~": "yellow"}.get(sign)
        if colour:
            self._lines[start:] = [self._paint(line, colour) for line in self._lines[start:]]

    def _append_labelled(self, label: str, text: str, colour: str) -> None:
        start = len(self._lines)
        self._append_wrapped(label, text)
        self._lines[start] = f"{self._paint(label, colour)}{self._lines[start][len(label) :]}"

    def _append_wrapped(self, prefix: str, text: str, limit: int | None = MAX_TEXT) -> None:
        from textwrap import wrap

        safe_text = escape_terminal(text, limit)
        lines = wrap(
            safe_text, self._width, initial_indent=prefix, subsequent_indent=" " * len(prefix), break_on_hyphens=False
        )
        # A line break can move text to a line's start that a job's log would take for a command.
        self._lines += [escape_terminal(line, None) for line in lines or [prefix.rstrip()]]

    def _paint(self, text: str, colour: str) -> str:
        return f"{COLOURS[colour]}{text}{RESET}" if self._colour else text


GAP = "  "
MIN_COLUMN = 8


def format_columns(header: Sequence[str], rows: Sequence[Sequence[str]], width: int, whole: int = 0) -> str:
    """Formats rows below their header, at most `width` wide if columns of eight characters fit.

    The first `whole` columns are never cut, even if the lines get wider.
    """
    shown = [list(header)]
    shown += [[escape_terminal(cell, None if at < whole else width) for at, cell in enumerate(row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    others = widths[whole:]
    while sum(widths) + len(GAP) * (len(widths) - 1) > width and max(others) > MIN_COLUMN:
        others[others.index(max(others))] -= 1
        widths[whole:] = others
    return "\n".join(_format_row(row, widths) for row in shown)


def _format_row(row: Sequence[str], widths: Sequence[int]) -> str:
    return GAP.join(_clip(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}\u2026"
