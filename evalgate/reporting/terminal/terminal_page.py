"""A page for a terminal: every text passes the terminal's door, and no line is wider than the window."""

from __future__ import annotations

from evalgate.reporting.text.escaping import terminal

COLOURS = {"red": "\x1b[31m", "yellow": "\x1b[33m", "green": "\x1b[32m", "dim": "\x1b[2m"}
PLAIN = "\x1b[0m"
NARROWEST, TEXT = 60, 2_000
LABEL = 9
OUTCOME = 14


class TerminalPage:
    """Lines as they are added; colours are ours alone."""

    def __init__(self, width: int, *, colour: bool) -> None:
        self._width = max(width, NARROWEST)
        self._colour = colour
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def heading(self, word: str, text: str, colour: str) -> None:
        """The first line: a coloured word and a name."""
        self._labelled(f"{terminal(word)}  ", text, colour)

    def title(self, text: str) -> None:
        """The title of a part, after an empty line."""
        self._lines.append("")
        self._wrapped("", text)

    def fact(self, label: str, text: str) -> None:
        """A text behind its label."""
        self._wrapped(f"  {label.ljust(LABEL)}", text)

    def say(self, text: str, *, indent: int, limit: int = TEXT) -> None:
        """A text, wrapped."""
        self._wrapped(" " * indent, text, limit)

    def coloured(self, text: str, colour: str, *, indent: int) -> None:
        """A text in a colour."""
        start = len(self._lines)
        self._wrapped(" " * indent, text)
        self._lines[start:] = [self._painted(line, colour) for line in self._lines[start:]]

    def labelled(self, word: str, text: str, colour: str, *, indent: int) -> None:
        """A text behind a coloured word."""
        self._labelled(f"{' ' * indent}{terminal(word, OUTCOME).ljust(OUTCOME)}", text, colour)

    def signed(self, sign: str, text: str, *, indent: int) -> None:
        """A line of a difference: `-` in red, `+` in green, `~` in yellow, a blank plain."""
        start = len(self._lines)
        self._wrapped(f"{' ' * indent}{sign or ' '} ", text)
        colour = {"-": "red", "+": "green", "~": "yellow"}.get(sign)
        if colour:
            self._lines[start:] = [self._painted(line, colour) for line in self._lines[start:]]

    def _labelled(self, label: str, text: str, colour: str) -> None:
        start = len(self._lines)
        self._wrapped(label, text)
        self._lines[start] = f"{self._painted(label, colour)}{self._lines[start][len(label) :]}"

    def _wrapped(self, head: str, text: str, limit: int = TEXT) -> None:
        from textwrap import wrap

        shown = terminal(text, limit)
        lines = wrap(
            shown, self._width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
        )
        # Breaking a line can bring to its start what a job's log would take for a command.
        self._lines += [terminal(line, None) for line in lines or [head.rstrip()]]

    def _painted(self, text: str, colour: str) -> str:
        return f"{COLOURS[colour]}{text}{PLAIN}" if self._colour else text
