"""Finds text that every match of a pattern contains, so that most texts need no search."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def find_required_text(source: str) -> str:
    """Returns the longest run of characters that every match contains; empty if none is found."""
    return longest_run(tokenize_pattern(source) or ())


def longest_run(pieces: Sequence[Token]) -> str:
    """Returns the same for a pattern in tokens. Looks only outside of groups."""
    runs, depth = [""], 0
    for kind, text in pieces:
        depth += (kind == "group") - (kind == "end")
        if depth < 0 or (depth == 0 and kind == "either"):
            return ""
        if depth == 0 and kind == "literal":
            runs[-1] += text[-1]
            continue
        if depth == 0 and kind == "quantifier":
            runs[-1] = runs[-1][:-1]
        runs.append("")
    return max(runs, key=len)


_SYNTAX = r"""
      (?P<literal> [^\\^$.|?*+()\[\]{}] | \\[^A-Za-z0-9] )
    | (?P<quantifier> [*+?] [+?]? | \{\d*,?\d*\} [+?]? )
    | (?P<group> \( (?! [?*] ) | \(\? (?: [:=!>] | <[=!] | P?<[A-Za-z_]\w*> ) )
    | (?P<end> \) )
    | (?P<either> \| )
    | (?P<any> \. | \\[dDsSwWnrt] | \[\^?\]? (?: [^\\\[\]] | \\[^A-Za-z0-9] | \\[dDsSwWnrt] )* \] )
    | (?P<place> [\^$] | \\[bBAZ] )
    """
"""`any` matches one of several characters, `place` matches no character."""

Token = tuple[str, str]
"""Its kind, which is the name of a group above, and its text."""


@cache
def _token_pattern() -> re.Pattern[str]:
    return re.compile(_SYNTAX, re.VERBOSE | re.DOTALL)  # compiled only if a run has patterns


def tokenize_pattern(source: str) -> list[Token] | None:
    """Returns the tokens in order; None for unsupported syntax, such as flags or back-references."""
    found: list[Token] = []
    position = 0
    match = _token_pattern().match
    while position < len(source):
        token = match(source, position)
        if token is None:
            return None
        position = token.end()
        found.append((token.lastgroup or "", token[0]))
    return found
