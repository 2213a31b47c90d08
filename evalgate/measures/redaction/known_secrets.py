"""Secrets that are recognised without knowing them: by the shape of a token, or by the words before a value.

A shape is found by plain search for its prefix, a context starts at one of its words (names, headers, URLs, key
blocks). Patterns read up to a bounded length from there. The quick pattern leaves out all other text at little cost.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.text.plain_text import INVISIBLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

REDACTED = "[redacted: "
"""The beginning of the mark that replaces a redacted secret."""

# A prefix that could end a word (`task-`) needs an edge before it; a literal `\n` or `%20` is one.
_EDGE = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbfv])|(?<=%[0-9A-Fa-f]{2}))"
_END = rb"(?![A-Za-z0-9])"

_compiled = cache(re.compile)


class TokenShape(NamedTuple):
    """A kind of token: its prefixes, and the pattern after them."""

    kind: str
    prefixes: Sequence[bytes]
    rest: bytes
    needs_edge: bool = False

    def find_spans(self, flat: bytes, prefix: bytes) -> Iterator[tuple[int, int, str]]:
        """Yields such tokens in the text that start with one of the prefixes."""
        pattern = _compiled((_EDGE if self.needs_edge else b"") + re.escape(prefix) + self.rest)
        position = flat.find(prefix)
        while position >= 0:
            match = pattern.match(flat, position)
            if match:
                yield match.start(), match.end(), self.kind
            position = flat.find(prefix, match.end() if match else position + len(prefix))


SHAPES: Sequence[TokenShape] = (
    TokenShape("GitHub token", [b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"], rb"[A-Za-z0-9]{30,}"),
    TokenShape("GitHub token", [b"github_pat_"], rb"\w{30,}"),
    TokenShape("GitLab token", [b"glpat-", b"gldt-", b"glrt-", b"glcbt-", b"glptt-"], rb"[\w-]{20,}"),
    TokenShape("AWS key", [b"AKIA", b"ASIA", b"ABIA", b"ACCA"], rb"[A-Z0-9]{16}" + _END),
    TokenShape("Google key", [b"AIza"], rb"[\w-]{35}"),
    TokenShape("Google key", [b"ya29.", b"GOCSPX-"], rb"[\w-]{20,}"),
    TokenShape("Anthropic key", [b"sk-ant-"], rb"[\w-]{16,}"),
    TokenShape("OpenRouter key", [b"sk-or-"], rb"[\w-]{20,}"),
    TokenShape("Langfuse key", [b"sk-lf-"], rb"[\w-]{20,}"),
    TokenShape("OpenAI key", [b"sk-proj-", b"sk-svcacct-", b"sk-admin-"], rb"[\w-]{20,}"),
    TokenShape("API key", [b"sk-"], rb"[A-Za-z0-9]{20,}", needs_edge=True),
    TokenShape("LangSmith key", [b"lsv2_pt_", b"lsv2_sk_"], rb"\w{20,}"),
    TokenShape("Slack token", [b"xoxa-", b"xoxb-", b"xoxe-", b"xoxo-", b"xoxp-", b"xoxr-", b"xoxs-"], rb"[\w-]{10,}"),
    TokenShape("Slack token", [b"xoxe.", b"xapp-"], rb"[\w-]{12,}"),
    TokenShape("Stripe key", [b"sk_live_", b"sk_test_", b"rk_live_", b"rk_test_"], rb"[A-Za-z0-9]{16,}"),
    TokenShape("Stripe key", [b"whsec_"], rb"[A-Za-z0-9+/=]{16,}"),
    TokenShape("npm token", [b"npm_"], rb"[A-Za-z0-9]{36}"),
    TokenShape("PyPI token", [b"pypi-AgE"], rb"[\w-]{16,}"),
    TokenShape("Hugging Face token", [b"hf_", b"api_org_"], rb"[A-Za-z0-9]{30,}", needs_edge=True),
    TokenShape("SendGrid key", [b"SG."], rb"[\w-]{16,}\.[\w-]{16,}"),
    TokenShape("Twilio key", [b"SK"], rb"[0-9a-f]{32}" + _END, needs_edge=True),
    TokenShape("DigitalOcean token", [b"dop_v1_", b"doo_v1_", b"dor_v1_"], rb"[0-9a-f]{64}"),
    TokenShape("Shopify token", [b"shpat_", b"shpca_", b"shppa_", b"shpss_"], rb"[0-9a-fA-F]{32}"),
    TokenShape("Databricks token", [b"dapi"], rb"[0-9a-f]{32}(?:-[0-9])?" + _END, needs_edge=True),
    TokenShape("Docker token", [b"dckr_pat_", b"dckr_oat_"], rb"[\w-]{20,}"),
    TokenShape("Vault token", [b"hvs.", b"hvb.", b"hvr."], rb"[\w-]{24,}", needs_edge=True),
    TokenShape("Doppler token", [b"dp.pt.", b"dp.st.", b"dp.sa.", b"dp.ct."], rb"[\w.]{32,}"),
    TokenShape("Grafana token", [b"glsa_", b"glc_"], rb"\w{32,}"),
    TokenShape("Groq key", [b"gsk_"], rb"[A-Za-z0-9]{40,}", needs_edge=True),
    TokenShape("xAI key", [b"xai-"], rb"[A-Za-z0-9]{40,}", needs_edge=True),
    TokenShape("Perplexity key", [b"pplx-"], rb"[A-Za-z0-9]{32,}", needs_edge=True),
    TokenShape("Replicate token", [b"r8_"], rb"[A-Za-z0-9]{37}", needs_edge=True),
    TokenShape("Tavily key", [b"tvly-"], rb"[\w-]{20,}", needs_edge=True),
    TokenShape("Pinecone key", [b"pcsk_"], rb"\w{40,}", needs_edge=True),
    TokenShape("Notion token", [b"ntn_"], rb"[A-Za-z0-9]{40,}", needs_edge=True),
    TokenShape("Linear key", [b"lin_api_", b"lin_oauth_"], rb"[A-Za-z0-9]{32,}"),
    TokenShape("Postman key", [b"PMAK-"], rb"[0-9a-f]{24}-[0-9a-f]{34}"),
    TokenShape("Sentry token", [b"sntrys_", b"sntryu_"], rb"[\w-]{32,}"),
    TokenShape("Telegram token", [b":AA"], rb"(?<=[0-9]:AA)[\w-]{33}" + _END),
    TokenShape("age key", [b"AGE-SECRET-KEY-1"], rb"[A-Z0-9]{50,}"),
    TokenShape("JWT", [b"eyJ"], rb"[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
)

ContextMatch = re.Match[bytes]

# Backslashes before a quote: a text may be JSON within JSON within JSON, each level doubles them and adds one.
_QUOTE = rb"\\{0,31}[\"']?"
_ASSIGN = rb"%b\s{0,4}(?P<mark>:=|=>|:|=)\s{0,4}(?P<quote>%b)" % (_QUOTE, _QUOTE)
_VALUE = rb"[^\s\"'`,;&<>\\}\])]"
_WHERE_NAMES_END = r"[ _-]?$"
_BEFORE_KEY = "api|access|secret|private|signing|encryption|master|account|shared|service"
_BEFORE_TOKEN = "access|auth|refresh|bearer|session|secret|api|bot|oauth|personal|id"  # noqa: S105 - names, not secrets
_BEFORE_SECRET = "client|app|api|shared|consumer|webhook|signing|jwt"  # noqa: S105 - names, not secrets
_REACH = 14  # bytes before a word: the longest of these names and a separator fit

SECRET_FIELD = (
    r"(?i)(?:passw(?:or)?d|passphrase|passwd|credentials?|authorization|^pwd|[_-]pwd|^secret|[_-]secret|^token|"
    rf"^cookie|^set-cookie|apikey|secretkey|(?:{_BEFORE_KEY})[ _-]?key|(?:{_BEFORE_TOKEN})[ _-]?token|"
    rf"(?:{_BEFORE_SECRET})[ _-]?secret)$"
)
"""Names of fields whose text is always a secret."""
_UUID_OR_HASH = rb"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32,128}"
_PLACEHOLDER = (
    rb"(?i)(?:required|optional|string|text|none|null|true|false|undefined|redacted|unknown|missing|invalid|"
    rb"incorrect|expired|changed|protected|[x*.?-]+|<[^>]*>|\$\{?.*|%\(?.*|\{.*|\[redacted.*|your[_-].*)"
)

NAME_END = 100
"""Last characters of a field's name that are checked for names of secrets."""
_BARE_VALUE = 8  # bytes of a value if no name precedes `token` or `secret`
_URL_TOKEN = 20  # bytes of a user name without password in a URL from which it counts as a token


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


def _is_value(_: ContextMatch, value: bytes) -> bool:
    return not _compiled(_PLACEHOLDER).fullmatch(value)


def _is_random(_: ContextMatch, value: bytes) -> bool:
    return bool(_compiled(rb"[0-9]").search(value)) and not _compiled(_UUID_OR_HASH).fullmatch(value)


_BREAKS = frozenset({rb"\n", rb"\r", rb"\t"})
"""Line breaks and tabs as JSON writes them, after which a word begins."""
_ENDS = frozenset({b"", b"\n", b"\r", b'"', b"'", b"`", b"\\"})
"""What may follow a value that is a word: the end of its line, or of the text that quotes it."""


def _is_assigned(match: ContextMatch, value: bytes) -> bool:
    """Returns whether a value is assigned: `name: word` is prose if text follows the unquoted word."""
    is_sentence = match["mark"] == b":" and not match["quote"] and value.isalpha()
    after = match.string[match.end() : match.end() + 1]
    return _is_value(match, value) and (not is_sentence or after in _ENDS)


def _name_check(names: str) -> Callable[[ContextMatch, bytes], bool]:
    """Builds a check: after such names (`api` before `key`) any value is a secret, else random ones."""
    before = f"(?:{names}){_WHERE_NAMES_END}".encode()

    def is_secret(match: ContextMatch, value: bytes) -> bool:
        name = match.string[max(0, match.start() - _REACH) : match.start()]
        return _is_assigned(match, value) if _compiled(before).search(name) else _is_bare_secret(match, value)

    return is_secret


def _is_bare_secret(match: ContextMatch, value: bytes) -> bool:
    before = match.string[max(0, match.start() - 2) : match.start()]
    is_word = not before[-1:].isalnum() or before in _BREAKS
    return match[0][:3] != b"key" and len(value) >= _BARE_VALUE and is_word and _is_random(match, value)


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

_LOOK_AROUND = re.compile(rb"\(\?<?[=!][^)]*\)")
_NAMES = (
    rf"passw(?:or)?d|passphrase|credentials?|(?:{_BEFORE_KEY})[ _-]?key|token|secret|pwd|authorization|cookie"
).replace("i", "[i\u0130\u0131]")  # Python takes them for an `i` if case is ignored, Rust does not
_ASSIGNED_LATER = r"(?:[\\\"'\s]|\\[nrtf])*[:=]"
_OTHER_CONTEXTS = (
    r"-----begin |bearer (?:\s|\\[nrtf])*[a-z0-9._~+/=-]{16}|://[^\s/?#@\"'<>]+@|hooks\.slack\.com/|/api/webhooks/|"
    r"[?&]sig=|x-amz-signature="
)


def build_quick_pattern() -> str:
    """A pattern, for Rust's engine, that is in every text with a secret, and in the JSON of such a text or name.

    It finds shapes, contexts and names of fields, and also each escape and invisible character.
    """
    shapes = [b"(?:%b)%b" % (b"|".join(map(re.escape, shape.prefixes)), shape.rest) for shape in SHAPES]
    shape = _LOOK_AROUND.sub(b"", b"|".join(shapes)).decode()
    context = rf"(?:{_NAMES}){_ASSIGNED_LATER}|{_OTHER_CONTEXTS}"
    return rf"(?-u:{shape})|(?i:{context})|\\[u/]|{INVISIBLE}"
