"""A page for a terminal: every text is escaped, and no line is wider than the window."""

from __future__ import annotations

from evalgate.reporting.text.escaping import terminal

COLOURS = {"red": "\x1b[31m", "yellow": "\x1b[33m", "green": "\x1b[32m", "dim": "\x1b[2m"}
PLAIN = "\x1b[0m"
NARROWEST, TEXT = 60, 2_000
LABEL = 9
OUTCOME = 14


class TerminalPage:
    """Collects lines; colour codes come from this class only, since texts are escaped."""

    def __init__(self, width: int, *, colour: bool) -> None:
        self._width = max(width, NARROWEST)
        self._colour = colour
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def heading(self, word: str, text: str, colour: str) -> None:
        """Adds the first line: a coloured word and a name."""
        self._labelled(f"{terminal(word)}  ", text, colour)

    def title(self, text: str) -> None:
        """Adds the title of a part, after an empty line."""
        self._lines.append("")
        self._wrapped("", text)

    def fact(self, label: str, text: str) -> None:
        """Adds a text after its label."""
        self._wrapped(f"  {label.ljust(LABEL)}", text)

    def say(self, text: str, *, indent: int, limit: int = TEXT) -> None:
        """Adds a wrapped text."""
        self._wrapped(" " * indent, text, limit)

    def coloured(self, text: str, colour: str, *, indent: int) -> None:
        """Adds a coloured text."""
        start = len(self._lines)
        self._wrapped(" " * indent, text)
        self._lines[start:] = [self._painted(line, colour) for line in self._lines[start:]]

    def labelled(self, word: str, text: str, colour: str, *, indent: int) -> None:
        """Adds a text after a coloured word."""
        self._labelled(f"{' ' * indent}{terminal(word, OUTCOME).ljust(OUTCOME)}", text, colour)

    def signed(self, sign: str, text: str, *, indent: int) -> None:
        """Adds a diff line: `-` in red, `+` in green, `~` in yellow, a blank without colour."""
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
        # A line break can move text to a line's start that a job's log would take for a command.
        self._lines += [terminal(line, None) for line in lines or [head.rstrip()]]

    def _painted(self, text: str, colour: str) -> str:
        return f"{COLOURS[colour]}{text}{PLAIN}" if self._colour else text
