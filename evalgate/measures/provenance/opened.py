"""What is written inside of a text in another form, opened once: escapes, URLs, base64, JSON, spoken addresses."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbf\"'/\\]))")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": "\n"}
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,6});")
_BASE64 = re.compile(r"(?<![\w+/=-])(?:[A-Za-z0-9+/]{4}){3,}(?:[A-Za-z0-9+/]{2,3}={0,2})?(?![\w+/=-])")
_BASE64_OF_URLS = re.compile(r"(?<![\w+/=-])[\w-]{12,}={0,2}(?![\w+/=-])")
_AT, _DOT = (rf"(?:\s{word}\s|\s?[\[(]\s?{word}\s?[\])]\s?)" for word in ("at", "dot"))
_SPOKEN = re.compile(
    rf"\b(?:[a-z0-9_+-]{{1,64}}{_DOT}){{0,4}}[a-z0-9_+.-]{{1,64}}{_AT}[a-z0-9-]{{1,63}}(?:{_DOT}[a-z0-9-]{{1,63}}){{1,5}}\b",
    re.IGNORECASE,
)
_SPOKEN_AT, _SPOKEN_DOT = re.compile(_AT, re.IGNORECASE), re.compile(_DOT, re.IGNORECASE)
MAX_DEPTH = 64


def open_text(text: str, *, whole: bool = False) -> Iterator[str]:
    """Yields the text itself, and what it holds in other forms; of base64 that of a part, unless `whole`.

    >>> list(open_text("to%3A%20bob")), list(open_text("aW52b2ljZSA0Mg=="))
    (['to%3A%20bob', 'to: bob'], ['aW52b2ljZSA0Mg==', 'invoice 42'])
    """
    parsed = parse_json(text)
    if parsed is not None:
        yield from list_texts(parsed)
        return
    yield text
    if "\\" in text:
        yield _ESCAPE.sub(_unescape, text)
    if "%" in text and _PERCENT.search(text):
        yield _PERCENT.sub(_unquote, text.replace("+", " "))
    if "&" in text and _ENTITY.search(text):
        from html import unescape

        yield unescape(text)
    if "dot" in text.lower():
        yield from (_SPOKEN_AT.sub("@", _SPOKEN_DOT.sub(".", each), count=1) for each in _SPOKEN.findall(text))
    yield from _open_base64(text, whole=whole)


def parse_json(text: str) -> Any:
    """The object, list or text that a text holds as JSON; None for any other text."""
    bare = text.lstrip("\ufeff \t\r\n")
    if bare[:1] not in ("{", "[", '"'):
        return None
    try:
        return orjson.loads(bare.encode("utf-8", "replace"))
    except orjson.JSONDecodeError:
        return None


def list_texts(value: Any) -> Iterator[str]:
    """Yields the texts and numbers of a JSON value in order, then the keys of its objects."""
    keys: list[str] = []
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            keys.extend(map(str, found))
            stack.extend(reversed(list(found.values())))
        elif isinstance(found, list):
            stack.extend(reversed(found))
        elif isinstance(found, str):
            yield found
        elif found is not None and not isinstance(found, bool):
            yield str(found)
    yield from dict.fromkeys(keys)


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _PLAIN.get(found[3], found[3])


def _unquote(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace")


def _open_base64(text: str, *, whole: bool) -> Iterator[str]:
    for pattern in (_BASE64, _BASE64_OF_URLS):
        for found in [text] * bool(pattern.fullmatch(text)) if whole else pattern.findall(text):
            if pattern is _BASE64_OF_URLS and not {"-", "_"} & set(found):
                continue
            try:
                opened = b64decode(
                    found + "=" * (-len(found) % 4), altchars=b"-_" if pattern is _BASE64_OF_URLS else None
                )
                decoded = opened.decode()
            except (binascii.Error, ValueError):
                continue
            if decoded.isprintable():
                yield decoded
