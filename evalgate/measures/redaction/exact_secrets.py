"""Secrets known by their value: finds their encodings in a text, and removes them from a document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.measures.redaction.hidden_text import may_hide, uncover
from evalgate.measures.redaction.token_shapes import REDACTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MIN_SECRET = 6
"""Characters; shorter secrets occur in ordinary text too."""
MIN_LINE = 16
"""Characters from which one line of a secret of several lines is redacted by itself."""
PREFIX_LENGTH = 8
"""Characters of a secret's beginning that are redacted if the text was cut after them."""
MARK = f"{REDACTED}secret]"
CUTS = ("\u2026", "...")
_UNRESERVED = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-.~")
_PERCENT = re.compile("%[0-9A-F]{2}")


class ExactSecrets:
    """Secret values: unchanged, in base64 at any offset, and percent-encoded."""

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
            raw = each.encode("utf-8", "replace")
            yield from _encode_base64(raw)
            yield from _encode_percent(raw)


def _long_lines(secret: str) -> list[str]:
    lines = secret.splitlines()
    return [line.strip() for line in lines if len(line.strip()) >= MIN_LINE] if len(lines) > 1 else []


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
        yield _PERCENT.sub(lambda found: found[0].lower(), form)


def _escape_for_documents(spelling: str) -> Iterator[str]:
    """Yields it as documents write it: escaped for JSON, XML and Markdown (split mentions, escaped pipes)."""
    import json

    xml = spelling.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    quoted = spelling.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    parted = spelling.replace("@", "@\u200b")
    yield from (spelling, json.dumps(spelling)[1:-1], quoted, xml, parted, parted.replace("|", "\\|"))
