"""Regular expressions of JavaScript in the syntax of checks, so that they match the same texts."""

from __future__ import annotations

import re
from itertools import pairwise

from evalgate.features.importing.models import CannotCarry

_TOKENS = re.compile(
    r"""
      (?P<escape> \\ (?: u[0-9A-Fa-f]{4} | x[0-9A-Fa-f]{2} | k<\w+> | . ) )
    | (?P<named> \(\?< (?=[A-Za-z_]) )
    | (?P<special> \(\? (?: [:=!] | <[=!] | [is]*-?[is]*: ) )
    | (?P<unknown> \(\? )
    | (?P<class> \[ \^? (?: \\. | [^\]\\] )* \] )
    | (?P<repeat> \{ \d+ (?: , \d* )? \} \?? | [*+?] \?? )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_INSIDE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)|\[", re.DOTALL)
_ESCAPES = {
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\w": "[A-Za-z0-9_]",
    r"\W": "[^A-Za-z0-9_]",
    r"\b": r"(?a:\b)",
    r"\B": r"(?a:\B)",
    r"\0": r"\x00",
}
"""What is of ASCII in JavaScript, and of all of Unicode here."""
_IN_CLASS = {r"\d": "0-9", r"\w": "A-Za-z0-9_", r"\b": r"\x08", r"\0": r"\x00"}
_SAME = frozenset("sSnrtfv")
END = r"\Z"
PLACES = frozenset({"^", "$", r"\b", r"\B"})
_OTHERS = {"{": r"\{", "}": r"\}", "]": r"\]", "$": END}
"""Characters that are literal in JavaScript; `$` is there the end of the text, never the line break before it."""


def translate_pattern(source: str) -> str:
    r"""The pattern as checks read it; raises CannotCarry for what JavaScript refuses, or has no equal here.

    >>> translate_pattern(r"^order (?<id>\d+)$")
    '^order (?P<id>[0-9]+)\\Z'
    """
    tokens = [(match.lastgroup or "", match[0]) for match in _TOKENS.finditer(source)]
    for (_, place), (kind, _) in pairwise(tokens):
        if kind == "repeat" and place in PLACES:
            raise CannotCarry(f"`{place}` can't be repeated in JavaScript, so promptfoo fails this check always")
    return "".join(_translate(kind, text) for kind, text in tokens)


def _translate(kind: str, text: str) -> str:
    if kind == "unknown":
        raise CannotCarry(
            "JavaScript has no such group as `(?i)`, so promptfoo fails this check always; or it is of lines, `(?m:`"
        )
    if kind == "named":
        return "(?P<"
    if kind == "class":
        return _translate_class(text)
    if kind == "escape":
        return _translate_escape(text, _ESCAPES)
    return _OTHERS.get(text, text) if kind == "other" else text


def _translate_class(text: str) -> str:
    start = "[^" if text.startswith("[^") else "["
    inside = text[len(start) : -1]
    if not inside:
        return r"(?!)" if start == "[" else r"[\s\S]"
    return start + _INSIDE.sub(lambda each: _translate_inside(each[0]), inside) + "]"


def _translate_inside(text: str) -> str:
    """A character within brackets, where a further bracket is a character too."""
    return _translate_escape(text, _IN_CLASS) if text.startswith("\\") else f"\\{text}"


def _translate_escape(text: str, table: dict[str, str]) -> str:
    letter = text[1]
    if text in table:
        return table[text]
    if letter in "ux" and text[2:]:
        return text
    if text.startswith(r"\k<"):
        return f"(?P={text[3:-1]})"
    if letter in _SAME or letter.isdigit() or not letter.isalnum():
        return text
    if letter in "DW":
        raise CannotCarry(f"`{text}` within brackets has no equal here")
    raise CannotCarry(f"`\\{letter}` is the letter itself in JavaScript; write it without the backslash")


def translate_flags(source: str) -> str:
    """The same for a pattern that may begin with the flags `(?ims)`, which JavaScript takes apart from it."""
    match = re.match(r"\(\?([ims]+)\)", source)
    if match is None:
        return translate_pattern(source)
    pattern = translate_pattern(source[match.end() :])
    by_lines = "m" in match[1]  # then `$` is the end of each line, in both
    return f"(?{match[1]})" + (pattern.replace(END, "$") if by_lines else pattern)
