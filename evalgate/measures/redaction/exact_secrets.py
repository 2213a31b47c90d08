"""Secrets known by their value: finds their encodings in a text, and removes them from a document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

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
_CUTS = ("\u2026".encode(), b"\\u2026", b"...")
_UNRESERVED = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-.~")
_PERCENT = re.compile("%[0-9A-F]{2}")


class ExactSecrets:
    """Secret values: unchanged, in base64 at any offset, and percent-encoded."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {spelling for secret in secrets for spelling in _encode_secret(secret)}
        self._spellings = sorted(spellings, key=lambda spelling: (len(spelling), spelling))
        forms = {form for spelling in spellings for form in _escape_for_documents(spelling)}
        self._document_forms = sorted(forms, key=lambda form: (-len(form), form))

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
            start = text.find(spelling)
            while start >= 0:
                yield start, start + len(spelling), "secret"
                start = text.find(spelling, start + len(spelling))

    def remove_from(self, document: bytes) -> bytes:
        """Redacts a finished document (JSON, Markdown, XML), also beginnings of secrets before a cut."""
        for form in self._document_forms:
            if form in document:
                document = document.replace(form, MARK.encode())
        begun = [form for form in self._document_forms if form[:PREFIX_LENGTH] in document]
        for cut in _CUTS if begun else ():
            *cut_off, rest = document.split(cut)
            document = cut.join([*(_remove_stump(text, begun) for text in cut_off), rest])
        return document


def _remove_stump(text: bytes, forms: list[bytes]) -> bytes:
    """Redacts the beginning of a secret at the end of the text before a cut."""
    for form in forms:
        at = text.rfind(form[:PREFIX_LENGTH], -len(form))
        if at >= 0 and form.startswith(text[at:]):
            return text[:at] + MARK.encode()
    return text


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
    for form in (quoted, quoted.replace("%2F", "/"), quoted.replace("%20", "+")):
        yield form
        yield _PERCENT.sub(lambda found: found[0].lower(), form)


def _escape_for_documents(spelling: str) -> Iterator[bytes]:
    """Yields it as documents write it: escaped for JSON, XML and Markdown (split mentions, escaped pipes)."""
    import json

    xml = spelling.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    quoted = spelling.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    parted = spelling.replace("@", "@\u200b")
    forms = (spelling, json.dumps(spelling)[1:-1], quoted, xml, parted, parted.replace("|", "\\|"))
    for form in forms:
        yield form.encode("utf-8", "replace")
