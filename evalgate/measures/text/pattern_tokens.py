"""Splits the source of a regular expression into tokens, if it uses only simple syntax."""

from __future__ import annotations

import re
from functools import cache

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
