"""Where words of a project's own template meet recorded text: no joint may open the code around it.

Recorded text is safe as code and nowhere else. A backtick, a backslash or an address right before it, HTML
around it, or a quote that it leaves would make it something else; here each such joint is widened or refused.
"""

from __future__ import annotations

import re
from typing import Any

from evalgate.errors import Location, Problem, TemplateFlaw

START, END = "\ufdd0", "\ufdd1"  # around recorded text; no character that anybody writes
APART = "\n\n"
LONGEST_TOKEN = 200
LONGEST_LINK = 5_000
_UNSAFE = re.compile(r"[/@\\`]|www\.|[^*_(\[>|]$")
_LINK = re.compile(r"\]\([^)]*$")  # an address or its title that is still open
_HTML = re.compile(r"[\s>*+\-\d.)]*(?:</?(?:details|summary)>|</?[a-z]+>\s*$)")
_TOKEN = re.compile(r"[^ \t\n]+$")  # other blanks end no address
_MARKS = {ord(START): None, ord(END): None}
_PIPE = re.compile(r"(?<!\\)\|")


class TemplateRefused(Exception):
    """What a template asks for can't be given; the text says why."""


class Marked(str):
    """Text whose recorded parts are marked already."""

    __slots__ = ()


def value(given: Any) -> str:
    """Something to be printed, marked where it holds recorded text; raises Refused for lists and records."""
    if isinstance(given, Marked):
        return given
    text = str(given).translate(_MARKS)  # first of all: of what is not there Jinja itself says so
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise TemplateRefused("only text and numbers can be printed: name a field")
    if "`" not in text:
        return text  # our own words and figures
    return f"{APART}{START}{text}{END}{APART}" if "\n" in text else f"{START}{text}{END}"


def in_table(given: Any) -> str:
    """The same where the template draws tables: no text ends a cell."""
    return _PIPE.sub(r"\\|", value(given))


def joined(rows: tuple[Any, ...], between: str) -> Marked:
    """All of a list with a fixed text between."""
    return Marked(between.join(map(value, rows)))


def apart(given: Any) -> str:
    """A part of ours stands by itself, whatever is around it."""
    return f"{APART}{given}{APART}"


def close_joints(text: str, path: str) -> str:
    """The finished text, its marks gone. Raises TemplateFlaw where recorded text stands inside HTML."""
    if _is_inside_html(text):
        message = "recorded text stands in a block of HTML, where it would not be code"
        raise TemplateFlaw(Problem(message, Location(path), "leave an empty line after the tag"))
    first, *rest = text.split(START)
    written, tail, words = [first], first, first
    for piece in rest:
        recorded, _, after = piece.partition(END)
        before = APART if _LINK.search(words[-LONGEST_LINK:]) else " " if _opens(tail) else ""
        between = " " if after.startswith("`") else ""
        written += [before, recorded, between, after]
        tail, words = f"{recorded}{after}", after
    return "".join(written)


def _opens(before: str) -> bool:
    """Whether what stands right before recorded text could take its backtick for something else."""
    token = _TOKEN.search(before[-LONGEST_TOKEN:])
    return token is not None and (len(token[0]) == LONGEST_TOKEN or _UNSAFE.search(token[0]) is not None)


def _is_inside_html(text: str) -> bool:
    inside = False
    for line in text.split("\n"):
        if not line.strip():
            inside = False
        elif inside or _HTML.match(line):
            inside = True
            if START in line:
                return True
    return False
