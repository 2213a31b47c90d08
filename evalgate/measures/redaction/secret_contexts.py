"""Finds secrets by the words before them: names, headers, URLs, key blocks.

A context starts at one of its words, found by plain search, so that text without them costs almost nothing.
Patterns read lower-cased bytes from there, up to a bounded length.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ContextMatch = re.Match[bytes]

_ASSIGN = rb"\\?[\"']?\s{0,4}(?P<mark>:=|=>|:|=)\s{0,4}(?P<quote>\\?[\"']?)"
_VALUE = rb"[^\s\"'`,;&<>\\}\])]"
_WHERE_NAMES_END = r"[ _-]?$"
_BEFORE_KEY = "api|access|secret|private|signing|encryption|master|account|shared|service"
_BEFORE_TOKEN = "access|auth|refresh|bearer|session|secret|api|bot|oauth|personal|id"  # noqa: S105 - names, not secrets
_BEFORE_SECRET = "client|app|api|shared|consumer|webhook|signing|jwt"  # noqa: S105 - names, not secrets
_REACH = 14  # bytes before a word: the longest of these names and a separator fit

_FIELD = (
    r"(?i)(?:passw(?:or)?d|passphrase|passwd|credentials?|authorization|^pwd|[_-]pwd|^secret|[_-]secret|^token|"
    rf"^cookie|^set-cookie|apikey|secretkey|(?:{_BEFORE_KEY})[ _-]?key|(?:{_BEFORE_TOKEN})[ _-]?token|"
    rf"(?:{_BEFORE_SECRET})[ _-]?secret)$"
)
_UUID_OR_HASH = rb"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32,128}"
_PLACEHOLDER = (
    rb"(?i)(?:required|optional|string|text|none|null|true|false|undefined|redacted|unknown|missing|invalid|"
    rb"incorrect|expired|changed|protected|[x*.?-]+|<[^>]*>|\$\{?.*|%\(?.*|\{.*|\[redacted.*|your[_-].*)"
)

NAME_END = 100
"""Last characters of a field's name that are checked for names of secrets."""
_BARE_VALUE = 8  # bytes of a value if no name precedes `token` or `secret`
_URL_TOKEN = 20  # bytes of a user name without password in a URL from which it counts as a token

_compiled = cache(re.compile)


class SecretContext(NamedTuple):
    """The words it starts at, the pattern from there (group `secret`), and a final check of a match."""

    kind: str
    words: Sequence[bytes]
    pattern: bytes
    is_secret: Callable[[ContextMatch, bytes], bool]

    def find_spans(self, flat: bytes, lowered: bytes, word: bytes) -> Iterator[tuple[int, int, str]]:
        """Yields secrets in the text after one of the words; `lowered` is `flat` in lower case."""
        pattern = _compiled(self.pattern)
        position = lowered.find(word)
        while position >= 0:
            match = pattern.match(lowered, position)
            if match and self.is_secret(match, flat[slice(*match.span("secret"))]):
                yield *match.span("secret"), self.kind
            position = lowered.find(word, match.end() if match else position + len(word))


def is_secret_field(name: str) -> bool:
    """Returns whether the text of a field with this name is always a secret."""
    return bool(_compiled(_FIELD).search(name[-NAME_END:]))


def _is_value(_: ContextMatch, value: bytes) -> bool:
    return not _compiled(_PLACEHOLDER).fullmatch(value)


def _is_random(_: ContextMatch, value: bytes) -> bool:
    return bool(_compiled(rb"[0-9]").search(value)) and not _compiled(_UUID_OR_HASH).fullmatch(value)


def _is_assigned(match: ContextMatch, value: bytes) -> bool:
    """Returns whether a value is assigned: `name: word` is prose if text follows the unquoted word."""
    is_sentence = match["mark"] == b":" and not match["quote"] and value.isalpha()
    after = match.string[match.end() : match.end() + 1]
    return _is_value(match, value) and (not is_sentence or after in (b"", b"\n", b"\r"))


def _name_check(names: str) -> Callable[[ContextMatch, bytes], bool]:
    """Builds a check: after such names (`api` before `key`) any value is a secret, else random ones."""
    before = f"(?:{names}){_WHERE_NAMES_END}".encode()

    def is_secret(match: ContextMatch, value: bytes) -> bool:
        name = match.string[max(0, match.start() - _REACH) : match.start()]
        return _is_assigned(match, value) if _compiled(before).search(name) else _is_bare_secret(match, value)

    return is_secret


def _is_bare_secret(match: ContextMatch, value: bytes) -> bool:
    before = match.string[max(0, match.start() - 1) : match.start()]
    return match[0][:3] != b"key" and len(value) >= _BARE_VALUE and not before.isalnum() and _is_random(match, value)


def _is_url_secret(match: ContextMatch, value: bytes) -> bool:
    return match["user"] is not None or (len(value) >= _URL_TOKEN and _is_random(match, value))


_NAMED_VALUE = _ASSIGN + rb"(?P<secret>(?:(?<=[\"'])[^\"'\r\n\\]{4,400}|" + _VALUE + rb"{6,400}))"

CONTEXTS: Sequence[SecretContext] = (
    SecretContext(
        "private key",
        [b"-----begin "],
        rb"-----begin [a-z0-9 ]{0,40}private key(?: block)?-----(?P<secret>[^-]*(?:-(?!----end )[^-]*)*)",
        lambda _, found: bool(found.strip()),
    ),
    SecretContext(
        "password",
        [b"passw", b"passphrase", b"credential"],
        rb"(?:passw(?:or)?d|passphrase|credentials?)" + _NAMED_VALUE,
        _is_assigned,
    ),
    SecretContext("key", [b"key"], rb"key" + _NAMED_VALUE, _name_check(_BEFORE_KEY)),
    SecretContext("token", [b"token"], rb"token" + _NAMED_VALUE, _name_check(_BEFORE_TOKEN)),
    SecretContext("secret", [b"secret", b"pwd"], rb"(?:secret|pwd)" + _NAMED_VALUE, _name_check(_BEFORE_SECRET)),
    SecretContext(
        "authorization",
        [b"authorization"],
        rb"authorization" + _ASSIGN + rb"(?:(?:bearer|basic|token|digest|apikey|negotiate)\s{1,4})?"
        rb"(?P<secret>" + _VALUE + rb"{6,4000})",
        _is_value,
    ),
    SecretContext("authorization", [b"bearer "], rb"bearer\s{1,4}(?P<secret>[a-z0-9._~+/=-]{16,4000})", _is_random),
    SecretContext(
        "password in URL",
        [b"://"],
        rb"://(?P<user>[^\s/?#@:\"'<>]{0,200}:)?(?P<secret>[^\s/?#@:\"'<>]{3,400})@(?=[a-z0-9\[])",
        _is_url_secret,
    ),
    SecretContext(
        "webhook",
        [b"hooks.slack.com/", b"/api/webhooks/"],
        rb"(?:hooks\.slack\.com/(?:services|workflows)/|/api/webhooks/)(?P<secret>[a-z0-9_/-]{16,200})",
        _is_value,
    ),
    SecretContext(
        "signature",
        [b"accountkey=", b"?sig=", b"&sig=", b"x-amz-signature="],
        rb"[?&a-z-]{1,16}=(?P<secret>[a-z0-9%+/=_-]{24,400})",
        _is_value,
    ),
    SecretContext("cookie", [b"cookie:"], rb"cookie:\s{0,4}[^\s=;]{1,100}=(?P<secret>[^\s;\"']{8,4000})", _is_value),
)

_WORDS = tuple({word.decode() for context in CONTEXTS for word in context.words})


def may_have_context(text: str) -> bool:
    """Returns whether a context is possible: a check of ASCII text that costs a tenth of the search."""
    has_mark = ":" in text or "=" in text or "earer" in text or "EARER" in text or "-----" in text
    return has_mark and any(map(text.lower().__contains__, _WORDS))
