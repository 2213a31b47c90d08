"""Text without which a pattern can't match, read off its source: most texts need not be searched then."""

from __future__ import annotations

import re
from functools import cache

_SYNTAX = r"""
      (?P<literal> [^\\^$.|?*+()\[\]{}] | \\[^A-Za-z0-9] )
    | (?P<quantifier> [*+?] [+?]? | \{\d*,?\d*\} [+?]? )
    | (?P<group> \( (?! [?*] ) | \(\? (?: [:=!>] | <[=!] | P?<[A-Za-z_]\w*> ) )
    | (?P<end> \) )
    | (?P<either> \| )
    | (?P<other> [.^$] | \\[bBdDsSwWAZnrt] | \[\^?\]? (?: [^\\\[\]] | \\[^A-Za-z0-9] | \\[dDsSwWnrt] )* \] )
    """


@cache
def _token() -> re.Pattern[str]:
    return re.compile(_SYNTAX, re.VERBOSE | re.DOTALL)  # a run without patterns does not pay for it


def required_text(source: str) -> str:
    """The longest run of characters that every match holds; empty where none is seen.

    Looks only outside of groups, and gives up at whatever it does not know, such as flags.
    """
    runs, depth, position = [""], 0, 0
    match = _token().match
    while position < len(source):
        token = match(source, position)
        if token is None:
            return ""
        position = token.end()
        depth += (token.lastgroup == "group") - (token.lastgroup == "end")
        if depth < 0 or (depth == 0 and token.lastgroup == "either"):
            return ""
        if depth == 0 and token.lastgroup == "literal":
            runs[-1] += token[0][-1]
            continue
        if depth == 0 and token.lastgroup == "quantifier":
            runs[-1] = runs[-1][:-1]
        runs.append("")
    return max(runs, key=len)
