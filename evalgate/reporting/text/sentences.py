"""Escapes a sentence for Markdown: words are plain text, and only what `mark_part` marked, or is no word, is code.

A sentence may come from an untrusted document, so its marks protect nothing: outside of code only words of
ASCII letters, numbers and a few signs remain, which can be neither a mention, a link nor HTML.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from evalgate.measures.text.plain_text import MARK, MARKED, split_parts
from evalgate.reporting.text.escaping import LINE_BREAK_SIGN, escape_span, to_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SENTENCE_LIMIT, DIFFERENCE_LIMIT, UNASKED_LIMIT = 300, 600, 900

# Compiled by `re` on first use, then cached: not every run writes a report.
_TOKEN = f"(?:[^ `]|{MARKED})+"
_AROUND = r"""([("']*)(.*?)((?:'s)?[)"'.,;:?!\u2026]*)"""
_NUMBER = r"[-+\u2212]?(?:\d{1,6}|\d{1,3}(?:,\d{3}){1,4})(?:\.\d{1,9})?%?"
_WORD = rf"[A-Za-z]{{1,30}}(?:[-'][A-Za-z]{{1,30}})*|{_NUMBER}|\d{{1,6}}/\d{{1,6}}|p\d\d|\d{{4}}-\d\d-\d\d"
_LIST_ITEM = r"\d+[.)]"
_SIGNS = {
    **{sign: sign for sign in ("=", "\u00b1", "\u2013", "\u2192", "\u00b7", "\u2026", LINE_BREAK_SIGN.strip())},
    "<": "&lt;",
    ">": "&gt;",
    "<=": "&lt;=",
    ">=": "&gt;=",
    "->": "\u2192",
}


@lru_cache(maxsize=4096)
def escape_sentence(text: str, limit: int = SENTENCE_LIMIT) -> str:
    """Escapes a sentence as Markdown text on one line, cut to `limit` characters."""
    tokens = [found[0] for found in re.finditer(_TOKEN, to_one_line(text, limit))]
    return " ".join(_iter_escaped(tokens))


def escape_sentence_cell(text: str, limit: int = SENTENCE_LIMIT) -> str:
    """Escapes a sentence for a cell of a Markdown table."""
    return escape_sentence(text, limit).replace("|", "\\|")


def escape_like_names(text: str, escape: Callable[[str], str]) -> str:
    """Escapes a sentence for the place where `escape` is applied to names: as Markdown, else as plain text."""
    return escape_sentence(text) if escape is escape_span else escape(unmark_parts(text))


def unmark_parts(text: str) -> str:
    """Returns a sentence as plain text, for outputs that have no code."""
    return "".join(split_parts(text)) if MARK in text else text


def _iter_escaped(tokens: list[str]) -> Iterator[str]:
    """Yields plain words as they are; a marked part, and what is neither in a row, as one code span."""
    code: list[str] = []
    for index, token in enumerate(tokens):
        plain = _escape_word(token, is_first=not index)
        if plain is None:
            code.append(token)
            continue
        if code:
            yield _escape_code(" ".join(code))
            code.clear()
        yield plain
    if code:
        yield _escape_code(" ".join(code))


def _escape_word(token: str, *, is_first: bool) -> str | None:
    """Escapes a sign, a word or a marked part with the punctuation around it; None if it is none of them."""
    if token in _SIGNS:
        return None if is_first else _SIGNS[token]
    core = _split(token)[1]
    if re.fullmatch(MARKED, core):
        return _escape_code(token)
    is_plain = re.fullmatch(_WORD, core) and not (is_first and re.match(_LIST_ITEM, token))
    return token if is_plain else None


def _escape_code(text: str) -> str:
    """Escapes text as a code span, with the punctuation around it as plain text."""
    before, core, after = _split(text)
    if not unmark_parts(core):
        before, core, after = "", text, ""
    return f"{before}{escape_span(unmark_parts(core), len(text))}{after}"


def _split(text: str) -> tuple[str, str, str]:
    """Splits a text into opening punctuation, its core, and closing punctuation."""
    found = re.fullmatch(_AROUND, text)
    return (found[1], found[2], found[3]) if found else ("", text, "")
