"""Keeps recorded text safe in a project's template: the text around it must not end its code span.

Recorded text is safe only as code. A backtick, backslash or URL right before it, HTML around it, or a quote
that it leaves would make it something else; here such text is moved apart or the template is refused.
"""

from __future__ import annotations

import re
from typing import Any

from evalgate.errors import InvalidTemplate, Location, Problem

START, END = "\ufdd0", "\ufdd1"  # marks around recorded text: noncharacters, which no text may hold
BLANK_LINE = "\n\n"
MAX_TOKEN = 200
MAX_LINK = 5_000
_UNSAFE = re.compile(r"[/@\\`]|www\.|[^*_(\[>|]$")
_LINK = re.compile(r"\]\([^)]*$")  # the URL or title of a link that is still open
_HTML = re.compile(r"[\s>*+\-\d.)]*(?:</?(?:details|summary)>|</?[a-z]+>\s*$)")
_TOKEN = re.compile(r"[^ \t\n]+$")  # other whitespace does not end a URL
_MARKS = {ord(START): None, ord(END): None}
_PIPE = re.compile(r"(?<!\\)\|")


class TemplateRefused(Exception):
    """A template uses a value in a forbidden way; the text explains it."""


class MarkedText(str):
    """Text whose recorded parts are already marked."""

    __slots__ = ()


def mark_value(given: Any) -> str:
    """Marks recorded text in a printed value; raises TemplateRefused for lists and records."""
    if isinstance(given, MarkedText):
        return given
    text = str(given).translate(_MARKS)  # first, as Jinja raises its own error for an undefined value
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise TemplateRefused("only text and numbers can be printed: name a field")
    if "`" not in text:
        return text  # EvalGate's own words and numbers
    return f"{BLANK_LINE}{START}{text}{END}{BLANK_LINE}" if "\n" in text else f"{START}{text}{END}"


def mark_table_value(given: Any) -> str:
    """Marks a value in a template that draws tables; pipes are escaped so that no text ends a cell."""
    return _PIPE.sub(r"\\|", mark_value(given))


def join_values(rows: tuple[Any, ...], separator: str) -> MarkedText:
    """Marks and joins the values of a list with a fixed separator."""
    return MarkedText(separator.join(map(mark_value, rows)))


def isolate_block(given: Any) -> str:
    """Puts blank lines around a built-in part, so that the text around it can't affect it."""
    return f"{BLANK_LINE}{given}{BLANK_LINE}"


def secure_recorded_text(text: str, path: str) -> str:
    """Separates recorded text and removes the marks. Raises InvalidTemplate for recorded text inside HTML."""
    if _has_recorded_html(text):
        message = "recorded text stands in a block of HTML, where it would not be code"
        raise InvalidTemplate(Problem(message, Location(path), "leave an empty line after the tag"))
    first, *rest = text.split(START)
    output, tail, template_text = [first], first, first
    for piece in rest:
        recorded, _, after = piece.partition(END)
        opening = (
            BLANK_LINE if _LINK.search(template_text[-MAX_LINK:]) else " " if _is_unsafe_before(tail) else ""
        )
        closing = " " if after.startswith("`") else ""
        output += [opening, recorded, closing, after]
        tail, template_text = f"{recorded}{after}", after
    return "".join(output)


def _is_unsafe_before(text: str) -> bool:
    """Whether the text right before recorded text could change the meaning of its backtick."""
    token = _TOKEN.search(text[-MAX_TOKEN:])
    return token is not None and (len(token[0]) == MAX_TOKEN or _UNSAFE.search(token[0]) is not None)


def _has_recorded_html(text: str) -> bool:
    inside = False
    for line in text.split("\n"):
        if not line.strip():
            inside = False
        elif inside or _HTML.match(line):
            inside = True
            if START in line:
                return True
    return False
