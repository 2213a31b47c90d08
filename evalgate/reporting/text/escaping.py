"""Escapes untrusted text, one function per output: Markdown, HTML pages, logs, terminals, XML, SARIF, Code Quality.

Text from traces, suites, file names and baselines is untrusted. In Markdown only code is safe: escapes,
entities and HTML leave mentions and links alive, so such text appears only in code spans and fences;
`sentences` leaves plain words and numbers outside of them, which no renderer reads as anything else.
Table cells also need a backslash before each pipe, which works inside code spans.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.ids import ELLIPSIS, cut_middle
from evalgate.measures.text.plain_text import LEAST_CUT, make_visible, mark_cut, remove_invisible, reveal_hidden

if TYPE_CHECKING:
    from collections.abc import Sequence

SPAN_LIMIT = 200
FENCE_LIMIT = 4_000
FENCE_LINES = 60
LOG_LIMIT = 500
TEXT_LIMIT = 2_000
LINE_BREAK_SIGN = " \u23ce "
GUTTER = "\u2502 "
_MAX_READ = 20_000  # characters of a text that are read; far fewer are printed
_UNSAFE_TAIL = 4_000  # the last of those: a secret may be cut off here, so they are not printed
_MAX_TICKS = 3

# Compiled by `re` on first use, then cached: not every run uses every pattern.
_BACKTICKS = "`+"
_LONG_TICKS = "`{4,}"
_URL = "https?://[A-Za-z0-9.:/_?=&%~#-]+"
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
_COMMAND = "(cd|evalgate|gh) "
_LEADING_COMMAND = r"^(\s*):(?=:)"
_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_XML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;"})


@lru_cache(maxsize=4096)
def escape_span(text: str, limit: int = SPAN_LIMIT) -> str:
    """Escapes text as one Markdown code span without line breaks, cut to `limit` characters.

    Right-to-left text is isolated, so that it moves no number of the words around it.
    """
    body = _neutralize_code(to_one_line(text, limit))
    ticks = "`" * (_longest_backtick_run(body) + 1)
    span = f"{ticks} {body} {ticks}"
    return span if body.isascii() or not re.search(_RIGHT_TO_LEFT, body) else f"\u2068{span}\u2069"


def shorten_id(text: str, limit: int) -> str:
    """Makes an id visible on one line; a longer one keeps its beginning and its end. Does not escape it."""
    return cut_middle(to_one_line(text, None), limit)


def escape_id(text: str, limit: int = SPAN_LIMIT) -> str:
    """Escapes an id as one Markdown code span, as `shorten_id` cuts it."""
    return escape_span(text if len(text) <= limit else shorten_id(text, limit), limit)


def is_safe_url(url: str) -> bool:
    """Whether a URL can be the address of a Markdown link as it is."""
    return re.fullmatch(_URL, url) is not None


def escape_link(text: str, url: str, limit: int = SPAN_LIMIT) -> str:
    """Escapes text as a code span that links to `url`; a plain span if the URL has an unsafe character."""
    span = escape_span(text, limit)
    return f"[{span}]({url})" if is_safe_url(url) else span


def escape_cell(text: str, limit: int = SPAN_LIMIT) -> str:
    """Escapes text as a code span in a cell of a Markdown table."""
    return escape_pipes(escape_span(text, limit))


def escape_pipes(markdown: str) -> str:
    """Escapes the pipes of a finished text for a cell of a Markdown table."""
    return markdown.replace("|", "\\|")


def escape_fence(text: str, limit: int = FENCE_LIMIT) -> str:
    """Escapes text as a fenced block; each line starts with a gutter, none with untrusted text."""
    shown, omitted = _truncate(_redact_start(text), limit, len(text))
    lines = _neutralize_code(shown).split("\n")
    body = "\n".join(f"{GUTTER}{line}".rstrip() for line in lines[:FENCE_LINES])
    hidden = len(lines) - FENCE_LINES
    if hidden > 0:
        body += f"\n{GUTTER}{lines[-1] if hidden == 1 else mark_cut(hidden, 'line')}".rstrip()
    elif omitted:
        body += mark_cut(omitted)
    return _enclose(body, "text")


def escape_block(text: str) -> str:
    """Escapes a finished text of several lines as a fenced block, whole."""
    return _enclose(_neutralize_code(text), "text")


def escape_diff(lines: Sequence[tuple[str, str]], limit: int = SPAN_LIMIT) -> str:
    """Builds a diff block, which GitHub colours, from pairs of a sign (`-`, `+` or empty) and a text."""
    escaped = [f"{sign or GUTTER.strip()} {_neutralize_code(to_one_line(text, limit))}" for sign, text in lines]
    return _enclose("\n".join(escaped), "diff")


def escape_commands(commands: Sequence[str]) -> str:
    """Builds a block of shell-quoted commands to paste; those that don't begin as this program's are left out.

    `''` after each `@` prevents mentions, and means nothing to a shell.
    """
    lines = [to_one_line(command, FENCE_LIMIT) for command in commands]
    body = "\n".join(line for line in lines if re.match(_COMMAND, line)).replace("@", "@''")
    return _enclose(body, "sh") if body else ""


def to_one_line(text: str, limit: int | None = SPAN_LIMIT) -> str:
    """Redacts text, makes it visible on one line, cuts it to `limit` (None: no cut); does not escape it."""
    clean = redact(make_visible(text)) if limit is None else _redact_start(text)
    if "\n" in clean:
        clean = clean.replace("\n", LINE_BREAK_SIGN)
    if limit is None:
        return clean
    shown, omitted = _truncate(clean, limit, len(text))
    return f"{shown}{mark_cut(omitted)}" if omitted else shown


def escape_log(text: str, limit: int | None = LOG_LIMIT) -> str:
    """Escapes text as one log line in which the GitHub Actions runner finds no command."""
    line = to_one_line(text, limit).replace("\t", " ").replace("##[", "# #[")
    return re.sub(_LEADING_COMMAND, r"\1: ", line) if "::" in line else line


def escape_terminal(text: str, limit: int | None = SPAN_LIMIT) -> str:
    """Escapes text for a terminal: no control bytes, and no runner command as it may be a job's log."""
    return escape_log(text, limit)


@lru_cache(maxsize=4096)
def escape_xml(text: str, limit: int = TEXT_LIMIT) -> str:
    """Escapes text for an XML attribute or element body; characters that XML forbids are dropped."""
    line = to_one_line(text, limit)
    allowed = line if line.isprintable() else re.sub(_NOT_XML, "", line)
    return allowed.translate(_XML_ESCAPES)


@lru_cache(maxsize=4096)
def escape_sarif(text: str, limit: int = TEXT_LIMIT) -> str:
    """Escapes text for a SARIF message, in which `[words](address)` would become a link."""
    return re.sub(r"([\\\[\]])", r"\\\1", to_one_line(text, limit))


def escape_code_quality(text: str, limit: int = TEXT_LIMIT) -> str:
    """Escapes text for a Code Quality report, which GitLab shows as plain text."""
    return to_one_line(text, limit).encode("utf-8", "replace").decode()


def clean_page_text(text: str, limit: int = FENCE_LIMIT) -> str:
    """Text for an HTML page: redacted, cut, invisible characters as escapes. The page's template escapes markup."""
    start = text[: max(_MAX_READ, limit + _UNSAFE_TAIL)]
    plain = remove_invisible(start)
    redacted = redact(plain)
    if len(start) < len(text):
        shown = reveal_hidden(redacted[:-_UNSAFE_TAIL])
    else:
        shown = reveal_hidden(redacted if redacted != plain else start)  # one may hide between invisible characters
    left = len(text) - limit
    if max(left, len(shown) - limit) < LEAST_CUT:
        return shown
    return f"{shown[:limit]}{mark_cut(left) if left > 0 else ELLIPSIS}"


_SCRIPT_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def encode_script_json(value: Any) -> str:
    """JSON for a `<script type="application/json">`: no character of it can end the element or open another."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_SCRIPT_ESCAPES)


def _redact_start(text: str) -> str:
    """Redacts the beginning of the text and makes it visible."""
    if len(text) <= _MAX_READ:
        return redact(make_visible(text))
    return redact(make_visible(text[:_MAX_READ]))[:-_UNSAFE_TAIL]


def _neutralize_code(text: str) -> str:
    # E-mail replies quote this as plain text: a zero-width space after `@` prevents mentions there.
    return re.sub(_LONG_TICKS, "`" * _MAX_TICKS, text).replace("@", "@\u200b")


def _enclose(body: str, language: str) -> str:
    """A fenced block, which no backticks of its body end."""
    ticks = "`" * max(3, _longest_backtick_run(body) + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def _longest_backtick_run(text: str) -> int:
    if "`" not in text:
        return 0
    return max(len(run) for run in re.findall(_BACKTICKS, text))


def _truncate(text: str, limit: int, full_length: int) -> tuple[str, int]:
    """Returns at most `limit` characters, and how many of all `full_length` are omitted; none if that saves nothing."""
    unread = full_length - _MAX_READ + _UNSAFE_TAIL if full_length > _MAX_READ else 0
    if len(text) <= limit or (len(text) < limit + LEAST_CUT and not unread):
        return text, unread
    return text[:limit], len(text) - limit + unread
