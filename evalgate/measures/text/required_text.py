"""Finds text that every match of a pattern contains, so that most texts need no search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.text.pattern_tokens import tokenize_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.measures.text.pattern_tokens import Token


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
