"""Keeps recorded text safe in a project's template: the text around it must not end its code span.

Recorded text is safe only as code. A backtick, backslash or URL right before it, HTML around it, or a quote
that it leaves would make it something else; here such text is moved apart or the template is refused.
"""

from __future__ import annotations

import re
from typing import Any

from evalgate.errors import Location, Problem, TemplateFlaw

START, END = "\ufdd0", "\ufdd1"  # marks around recorded text: noncharacters, which no text may hold
APART = "\n\n"
LONGEST_TOKEN = 200
LONGEST_LINK = 5_000
_UNSAFE = re.compile(r"[/@\\`]|www\.|[^*_(\[>|]$")
_LINK = re.compile(r"\]\([^)]*$")  # the URL or title of a link that is still open
_HTML = re.compile(r"[\s>*+\-\d.)]*(?:</?(?:details|summary)>|</?[a-z]+>\s*$)")
_TOKEN = re.compile(r"[^ \t\n]+$")  # other whitespace does not end a URL
_MARKS = {ord(START): None, ord(END): None}
_PIPE = re.compile(r"(?<!\\)\|")


class TemplateRefused(Exception):
    """A template uses a value in a forbidden way; the text explains it."""


class Marked(str):
    """Text whose recorded parts are already marked."""

    __slots__ = ()


def value(given: Any) -> str:
    """Marks recorded text in a printed value; raises TemplateRefused for lists and records."""
    if isinstance(given, Marked):
        return given
    text = str(given).translate(_MARKS)  # first, as Jinja raises its own error for an undefined value
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise TemplateRefused("only text and numbers can be printed: name a field")
    if "`" not in text:
        return text  # EvalGate's own words and numbers
    return f"{APART}{START}{text}{END}{APART}" if "\n" in text else f"{START}{text}{END}"


def in_table(given: Any) -> str:
    """Marks a value in a template that draws tables; pipes are escaped so that no text ends a cell."""
    return _PIPE.sub(r"\\|", value(given))


def joined(rows: tuple[Any, ...], between: str) -> Marked:
    """Marks and joins the values of a list with a fixed separator."""
    return Marked(between.join(map(value, rows)))


def apart(given: Any) -> str:
    """Puts blank lines around a built-in part, so that the text around it can't affect it."""
    return f"{APART}{given}{APART}"


def close_joints(text: str, path: str) -> str:
    """Separates recorded text and removes the marks. Raises TemplateFlaw for recorded text inside HTML."""
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
    """Whether the text right before recorded text could change the meaning of its backtick."""
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
