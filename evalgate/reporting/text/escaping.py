"""The doors through which text of strangers leaves: one each for Markdown, logs, terminals and XML.

Everything a trace, a suite, a file name or a baseline says is hostile. In Markdown nothing holds but code:
escapes, entities and HTML leave mentions or links alive, so such text appears in code spans and fences only.
Backslashes before pipes are the one rule tables add, and they work inside spans.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

SPAN_LIMIT = 200
FENCE_LIMIT = 4_000
FENCE_LINES = 60
LOG_LIMIT = 500
TEXT_LIMIT = 2_000
BREAK = " \u23ce "
GUTTER = "\u2502 "
_LOOKED_AT = 20_000  # characters that a door looks at; it never prints as many
_UNSURE = 4_000  # of those the last ones, where the end of a secret may lie beyond: they are not printed
_MAX_TICKS = 3

# Compiled on first need by `re`, which remembers them: not every run passes every door.
_BACKTICKS = "`+"
_LONG_TICKS = "`{4,}"
_LEADING_COMMAND = r"^(\s*):(?=:)"
_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_XML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;"})


@lru_cache(maxsize=4096)
def span(text: str, limit: int = SPAN_LIMIT) -> str:
    """The text as one Markdown code span of at most `limit` characters of it; never a line break inside."""
    body = _in_code(oneline(text, limit))
    ticks = "`" * (_longest_run(body) + 1)
    return f"{ticks} {body} {ticks}"


def cell(text: str, limit: int = SPAN_LIMIT) -> str:
    """The same for a cell of a table."""
    return span(text, limit).replace("|", "\\|")


def fence(text: str, limit: int = FENCE_LIMIT) -> str:
    """The text as a fenced block, each line behind a gutter: none begins with a stranger's words."""
    shown, left = _cut(_seen(text), limit, len(text))
    lines = _in_code(shown).split("\n")
    body = "\n".join(f"{GUTTER}{line}".rstrip() for line in lines[:FENCE_LINES])
    hidden = len(lines) - FENCE_LINES
    if hidden > 0:
        body += f"\n{GUTTER}\u2026 (+{hidden} lines)"
    elif left:
        body += f"\u2026 (+{left})"
    ticks = "`" * max(3, _longest_run(body) + 1)
    return f"{ticks}text\n{body}\n{ticks}"


def diff(lines: Sequence[tuple[str, str]], limit: int = SPAN_LIMIT) -> str:
    """A fenced block that GitHub colours: of each line its sign (`-`, `+` or empty) and its text."""
    told = [f"{sign or GUTTER.strip()} {_in_code(oneline(text, limit))}" for sign, text in lines]
    ticks = "`" * max(3, _longest_run("\n".join(told)) + 1)
    return "\n".join([f"{ticks}diff", *told, ticks])


def oneline(text: str, limit: int | None = SPAN_LIMIT) -> str:
    """The text redacted, visible and on one line, cut to `limit` characters (None: whole); not escaped."""
    seen = redact(visible(text)) if limit is None else _seen(text)
    if "\n" in seen:
        seen = seen.replace("\n", BREAK)
    if limit is None:
        return seen
    shown, left = _cut(seen, limit, len(text))
    return f"{shown}\u2026 (+{left})" if left else shown


def logsafe(text: str, limit: int | None = LOG_LIMIT) -> str:
    """The text as one line in which the runner of GitHub Actions finds no command."""
    line = oneline(text, limit).replace("\t", " ").replace("##[", "# #[")
    return re.sub(_LEADING_COMMAND, r"\1: ", line) if "::" in line else line


def terminal(text: str, limit: int | None = SPAN_LIMIT) -> str:
    """The text for a terminal: no control byte; and no command, since a terminal may be a job's log."""
    return logsafe(text, limit)


@lru_cache(maxsize=4096)
def xml(text: str, limit: int = TEXT_LIMIT) -> str:
    """The text escaped for an attribute or the body of an XML element, without what XML forbids."""
    line = oneline(text, limit)
    allowed = line if line.isprintable() else re.sub(_NOT_XML, "", line)
    return allowed.translate(_XML_ESCAPES)


@lru_cache(maxsize=4096)
def sarif_text(text: str, limit: int = TEXT_LIMIT) -> str:
    """The text for a message of SARIF, whose readers make links of `[words](address)`."""
    return re.sub(r"([\\\[\]])", r"\\\1", oneline(text, limit))


def _seen(text: str) -> str:
    """The beginning of the text, redacted and visible."""
    if len(text) <= _LOOKED_AT:
        return redact(visible(text))
    return redact(visible(text[:_LOOKED_AT]))[:-_UNSURE]


def _in_code(text: str) -> str:
    # Answers by e-mail are parsed as plain text: a blank of no width keeps `@` from naming anybody there.
    return re.sub(_LONG_TICKS, "`" * _MAX_TICKS, text).replace("@", "@\u200b")


def _longest_run(text: str) -> int:
    if "`" not in text:
        return 0
    return max(len(run) for run in re.findall(_BACKTICKS, text))


def _cut(text: str, limit: int, whole: int) -> tuple[str, int]:
    """At most `limit` characters, and how many of `whole` were left out."""
    unseen = whole - _LOOKED_AT + _UNSURE if whole > _LOOKED_AT else 0
    if len(text) <= limit:
        return text, unseen
    return text[:limit], len(text) - limit + unseen
