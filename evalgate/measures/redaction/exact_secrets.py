"""Secrets known by their value: finds their encodings in a text, and removes them from a document.

A document is read as a person or a decoder would: without invisible characters, and with escapes decoded.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.redaction.known_secrets import REDACTED
from evalgate.measures.text.plain_text import INVISIBLE, remove_invisible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HEX = "[0-9a-fA-F]"
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
# After a backslash: JSON, also quoted inside of JSON. Only the first of a run counts, so that no run is read twice.
_PAIR = rf"u[dD][89abAB]{_HEX}{{2}}\\++u[dD][c-fC-F]{_HEX}{{2}}"
_ESCAPED = rf"(?<=\\)(?<!\\\\)(?:[bf]|\\*+(?:{_PAIR}|u{_HEX}{{4}}|/))"
_PERCENT = f"(?<=%)(?:[0-7]{_HEX}|[89a-fA-F]{_HEX}(?:%[89a-fA-F]{_HEX})*)"
_SIGNS = (b"%", b"\\u", b"\\/", b"\\b", b"\\f")
_CODE = re.compile(rf"u({_HEX}{{4}})")

_compile = cache(re.compile)
_find_control = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]").search


class PlainText(NamedTuple):
    """A text without what hides it: which parts of it were decoded, and where those stand in the document."""

    text: str
    starts: list[int]
    ends: list[int]
    origins: list[tuple[int, int]]

    def find_origin(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the text stands in the document, with all that hides it."""
        first, last = bisect_right(self.ends, start), bisect_left(self.ends, end)
        begins_within = first < len(self.starts) and self.starts[first] <= start
        ends_within = last < len(self.starts) and self.starts[last] < end
        return (
            self.origins[first][0] if begins_within else self._shift(start, first),
            self.origins[last][1] if ends_within else self._shift(end, last),
        )

    def _shift(self, place: int, decoded: int) -> int:
        """Where a place stands that comes after so many decoded parts, and in none."""
        return place if not decoded else place - self.ends[decoded - 1] + self.origins[decoded - 1][1]


def may_hide(document: bytes) -> bool:
    """Whether a document has anything that hides text: a check that costs little."""
    return any(sign in document for sign in _SIGNS) or not document.isascii() or _find_control(document) is not None


def uncover(document: str) -> PlainText:
    """The text without invisible and control characters, with escapes of JSON and percent signs decoded."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    origins: list[tuple[int, int]] = []
    length = at = 0
    for hidden in _pattern(document).finditer(document):
        decoded = _decode(hidden[0])
        length += hidden.start() - at
        parts += (document[at : hidden.start()], decoded)
        starts.append(length)
        length += len(decoded)
        ends.append(length)
        origins.append(hidden.span())
        at = hidden.end()
    parts.append(document[at:])
    return PlainText("".join(parts), starts, ends, origins)


def _pattern(document: str) -> re.Pattern[str]:
    """A pattern of what may hide text in this document; it begins with one class, which makes the search fast."""
    unseen = _CONTROLS + (INVISIBLE[1:-1] if remove_invisible(document) is not document else "")
    return _compile(rf"[%\\{unseen}](?:{_ESCAPED}|{_PERCENT}|(?<=[{unseen}]))")


def _decode(hidden: str) -> str:
    if hidden[0] == "%":
        text = bytes.fromhex(hidden.replace("%", "")).decode("utf-8", "replace")
    elif hidden[0] == "\\":
        codes = _CODE.findall(hidden)
        text = bytes.fromhex("".join(codes)).decode("utf-16-be", "replace") if codes else hidden[-1].strip("bf")
    else:
        return ""
    return _compile(f"[{_CONTROLS}]").sub("", remove_invisible(text))


MIN_SECRET = 6
"""Characters; shorter secrets occur in ordinary text too."""
MIN_LINE = 16
"""Characters from which one line of a secret of several lines is redacted by itself."""
PREFIX_LENGTH = 8
"""Characters of a secret's beginning that are redacted if the text was cut after them."""
MARK = f"{REDACTED}secret]"
CUTS = ("\u2026", "...")
_UNRESERVED = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-.~")
_PERCENT_CODE = re.compile("%[0-9A-F]{2}")


class ExactSecrets:
    """Secret values: unchanged, quoted for JSON, in base64 at any offset, and percent-encoded."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {spelling for secret in secrets for spelling in _encode_secret(secret)}
        self._spellings = sorted(spellings, key=lambda spelling: (len(spelling), spelling))
        forms = {form for spelling in spellings for form in _escape_for_documents(spelling)}
        self._document_forms = sorted(forms, key=lambda form: (-len(form), form))
        self._encoded_forms = [form.encode("utf-8", "replace") for form in self._document_forms]

    def is_in(self, text: str) -> bool:
        """Returns whether the text, which has no invisible characters, contains a secret."""
        for spelling in self._spellings:
            if len(spelling) > len(text):
                return False
            if spelling in text:
                return True
        return False

    def is_in_document(self, document: bytes) -> bool:
        """Returns whether a document of JSON may contain a secret in one of its texts."""
        return any(form in document for form in self._encoded_forms)

    def find_spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yields start, end and kind of each secret in such a text."""
        for spelling in self._spellings:
            yield from ((start, end, "secret") for start, end in _find_all(text, spelling))

    def remove_from(self, document: bytes) -> bytes:
        """Redacts a finished document (JSON, Markdown, XML), also beginnings of secrets before a cut.

        Secrets are found as they are written, and as they read without invisible characters and once decoded.
        """
        for form in self._encoded_forms:
            if form in document:
                document = document.replace(form, MARK.encode())
        if may_hide(document) or any(form[:PREFIX_LENGTH] in document for form in self._encoded_forms):
            return self._remove_hidden(document)
        return document

    def _remove_hidden(self, document: bytes) -> bytes:
        written = document.decode("utf-8", "surrogateescape")
        plain = uncover(written)
        spans = {plain.find_origin(*span) for span in self._find_plain(plain.text)}
        if not spans:
            return document
        parts: list[str] = []
        at = 0
        for start, end in sorted(spans):
            if start >= at:
                parts += (written[at:start], MARK)
            at = max(at, end)
        return "".join([*parts, written[at:]]).encode("utf-8", "surrogateescape")

    def _find_plain(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields the places of secrets, and of their beginnings before a cut."""
        for form in self._document_forms:
            yield from _find_all(text, form)
            for start, _ in _find_all(text, form[:PREFIX_LENGTH]):
                same = _count_same(text, start, form)
                if text.startswith(CUTS, start + same):
                    yield start, start + same


def _find_all(text: str, part: str) -> Iterator[tuple[int, int]]:
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + len(part))


def _count_same(text: str, start: int, form: str) -> int:
    """How many characters of a form stand in a text from there on."""
    count = 0
    for expected, found in zip(form, text[start : start + len(form)], strict=False):
        if expected != found:
            break
        count += 1
    return count


def _encode_secret(secret: str) -> Iterator[str]:
    for each in {secret, *_long_lines(secret)}:
        if len(each) >= MIN_SECRET:
            yield each
            yield from _quote_for_json(each)
            raw = each.encode("utf-8", "replace")
            yield from _encode_base64(raw)
            yield from _encode_percent(raw)


def _long_lines(secret: str) -> list[str]:
    lines = secret.splitlines()
    return [line.strip() for line in lines if len(line.strip()) >= MIN_LINE] if len(lines) > 1 else []


def _quote_for_json(text: str, levels: int = 2) -> Iterator[str]:
    """Yields it as a text of JSON within a text holds it, such as the arguments of a call; also within one more."""
    import json

    for is_ascii in (True, False):
        quoted = text
        for _ in range(levels):
            quoted = json.dumps(quoted, ensure_ascii=is_ascii)[1:-1]
            yield quoted


def _encode_base64(raw: bytes) -> Iterator[str]:
    """Yields its base64, alone and amid other text: the part that does not depend on its neighbours."""
    import base64

    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(raw).decode().rstrip("=")
        for before in range(3):
            sure = slice((8 * before + 5) // 6, 8 * (before + len(raw)) // 6)
            yield encode(bytes(before) + raw).decode()[sure]


def _encode_percent(raw: bytes) -> Iterator[str]:
    quoted = "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in raw)
    every = "".join(f"%{byte:02X}" for byte in raw)
    for form in (quoted, quoted.replace("%2F", "/"), quoted.replace("%20", "+"), every):
        yield form
        yield _PERCENT_CODE.sub(lambda found: found[0].lower(), form)


def _escape_for_documents(spelling: str) -> Iterator[str]:
    """Yields it as documents write it: escaped for JSON, XML and Markdown (split mentions, escaped pipes)."""
    import json

    xml = spelling.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    quoted = json.dumps(spelling, ensure_ascii=False)[1:-1]
    parted = spelling.replace("@", "@\u200b")
    yield from (spelling, json.dumps(spelling)[1:-1], quoted, xml, parted, parted.replace("|", "\\|"))
