"""The source of a regular expression in pieces, as far as it is plain."""

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
"""`any` is one character of several, `place` none at all."""

Token = tuple[str, str]
"""Its kind, which is the name of a group above, and its text."""


@cache
def _token() -> re.Pattern[str]:
    return re.compile(_SYNTAX, re.VERBOSE | re.DOTALL)  # a run without patterns does not pay for it


def tokens(source: str) -> list[Token] | None:
    """The pieces in order; None where one is not known here, such as flags or back-references."""
    found: list[Token] = []
    position = 0
    match = _token().match
    while position < len(source):
        token = match(source, position)
        if token is None:
            return None
        position = token.end()
        found.append((token.lastgroup or "", token[0]))
    return found
