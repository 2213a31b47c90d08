"""Redacts secrets in text: token shapes, values after names like `password`, and exact secrets.

Ordinary text costs little: one quick test finds that it holds none. No pattern backtracks over more than a bounded
length.
"""

from __future__ import annotations

import re
import sys
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.known_secrets import (
    CONTEXTS,
    NAME_END,
    REDACTED,
    SECRET_FIELD,
    SHAPES,
    build_quick_pattern,
)
from evalgate.measures.text.plain_text import remove_invisible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.measures.redaction.exact_secrets import ExactSecrets
    from evalgate.measures.redaction.project_secrets import ProjectSecrets

MAX_DEPTH = 64
MAX_PASSES = 8
"""How often a text is searched again after something in it was redacted."""
_MIN_SECRET = 8  # `://u:p@h`: no recognised secret is shorter
_MOST_TOGETHER = 1_000_000
_BY_PREFIX = [(prefix, shape) for shape in SHAPES for prefix in shape.prefixes]
_BY_WORD = [(word, context) for context in CONTEXTS for word in context.words]

MOST_NAMES = 10_000
PROBE = "x"
"""A text that holds no secret, but is one under the name of a password."""

Span = tuple[int, int, str]


def redact(text: str) -> str:
    """Replaces every recognised secret in the text by `[redacted: <kind>]`."""
    return _REDACTOR.redact_text(text)


def redact_value(value: Any) -> Any:
    """Redacts the texts of a JSON value, and whole texts under names like `password`."""
    return _REDACTOR.redact_value(value)


def redact_field(name: str, clean: Any) -> Any:
    """Redacts the whole of a value, its texts already redacted, if its name is like `password`."""
    return _REDACTOR.redact_field(name, clean)


def is_clean(document: bytes) -> bool:
    """Whether a quick test of a document of JSON as orjson writes it proves that redacting changes none of it."""
    return _REDACTOR.is_clean(document)


def hide_secrets(secrets: Iterable[str]) -> None:
    """Makes this process redact these values; they replace all secrets set earlier."""
    _REDACTOR.exact, _REDACTOR.project = _build_exact_secrets(secrets), None
    _notify_listeners()


def add_project_secrets(secrets: ProjectSecrets) -> None:
    """Makes this process redact the secrets of a project too."""
    if _REDACTOR.project is not None and _REDACTOR.project.includes(secrets):
        return
    _REDACTOR.project = secrets if _REDACTOR.project is None else _REDACTOR.project.merge(secrets)
    _notify_listeners()


def on_secrets_changed(listener: Callable[[], None]) -> None:
    """Calls `listener` whenever the secrets change, so that caches of redacted texts can be cleared."""
    _LISTENERS.append(listener)


def _notify_listeners() -> None:
    _REDACTOR.forget_names()
    for listener in _LISTENERS:
        listener()


def get_project_secrets() -> ProjectSecrets | None:
    """Returns the secrets of projects so far, so that other processes can redact them too."""
    return _REDACTOR.project


def remove_exact_secrets(document: bytes) -> bytes:
    """Removes the exact secrets of this process from a document that another process wrote."""
    return _REDACTOR.exact.remove_from(document) if _REDACTOR.exact else document


def _build_exact_secrets(secrets: Iterable[str]) -> ExactSecrets | None:
    values = set(secrets)
    if not values:
        return None
    from evalgate.measures.redaction.exact_secrets import ExactSecrets  # most runs have none

    return ExactSecrets(values)


class Redactor:
    """Redacts known token shapes, exact secrets, and the secrets of a project."""

    def __init__(self, exact: Iterable[str] = ()) -> None:
        self.exact = _build_exact_secrets(exact)
        self.project: ProjectSecrets | None = None
        self._plain_names: set[str] = set()

    def redact_text(self, text: str) -> str:
        """Redacts secrets in the text, even if invisible characters split them or it holds them in escapes of JSON."""
        if self.project is None and not self._may_hold_secret(text):
            return text
        if "\\u" in text or "\\/" in text:
            text = self._redact_escaped(text)
        bare = _bare(text)
        clean = self._replace_secrets(bare)
        return text if clean == bare else clean

    def _may_hold_secret(self, text: str) -> bool:
        return (len(text) >= _MIN_SECRET and _may_hold_secret(text)) or (
            self.exact is not None and self.exact.is_in(_bare(text))
        )

    def is_clean(self, document: bytes) -> bool:
        """Whether a quick test of a document of JSON as orjson writes it proves that redacting changes none of it."""
        return (
            self.project is None
            and len(document) <= _MOST_TOGETHER
            and (self.exact is None or not self.exact.is_in_document(document))
            and not _may_hold_secret(document.decode())
        )

    def _redact_escaped(self, text: str) -> str:
        """Redacts secrets that a decoder would find in a text of JSON, such as the arguments of a call."""
        from evalgate.measures.redaction.exact_secrets import uncover  # most texts have no such escape

        plain = uncover(text)
        spans = [(*plain.find_origin(start, end), kind) for start, end, kind in self._find_spans(plain.text)]
        return _replace_spans(text, spans) if spans else text

    def redact_value(self, value: Any, depth: int = 0) -> Any:
        """Redacts secrets in a JSON value; values nested deeper than 64 levels are left out."""
        if isinstance(value, str):
            return self.redact_text(value)
        is_list = isinstance(value, list)
        if not is_list and not isinstance(value, dict):
            return value
        if depth >= MAX_DEPTH:
            return "[too deep]"
        if is_list:
            return [self.redact_value(item, depth + 1) for item in value]
        clean = {}
        plain_names, redact_text = self._plain_names, self.redact_text
        for key, item in value.items():
            inner = redact_text(item) if item.__class__ is str else self.redact_value(item, depth + 1)
            if key in plain_names:
                clean[key] = inner
            else:
                name = str(key)
                clean[self.redact_text(name)] = self.redact_field(name, inner)
                self._note_plain_name(name)
        return clean

    def _note_plain_name(self, name: str) -> None:
        """Remembers a name that holds no secret and marks none; documents repeat few of them."""
        if len(self._plain_names) < MOST_NAMES and len(name) <= NAME_END:
            is_plain = self.redact_text(name) == name and self.redact_field(name, PROBE) == PROBE
            if is_plain:
                self._plain_names.add(name)

    def forget_names(self) -> None:
        """Forgets which names are plain, as the secrets have changed."""
        self._plain_names.clear()

    def redact_field(self, name: str, clean: Any) -> Any:
        """Redacts the whole of a value, its texts already redacted, if its name marks it as a secret."""
        if isinstance(clean, str) and clean and _is_secret_field(_bare(name)[-NAME_END:]):
            return f"{REDACTED}field]"
        if self.project is not None and self.project.is_field(_bare(name)):
            from evalgate.measures.redaction.project_secrets import redact_contents  # most projects have none

            return redact_contents(clean)
        return clean

    def _replace_secrets(self, text: str) -> str:
        spans = self._find_spans(text)
        # Text next to a secret may be a secret too, recognised only after that one is replaced.
        for _ in range(MAX_PASSES):
            if not spans:
                break
            before, text = text, _replace_spans(text, spans)
            if text == before:
                break
            spans = self._find_spans(text)
        return text

    def _find_spans(self, text: str) -> list[Span]:
        exact = () if self.exact is None else self.exact.find_spans(text)
        project = () if self.project is None else self.project.find_spans(text)
        return [*exact, *_find_known(text), *project]


def _bare(text: str) -> str:
    return text if text.isascii() else remove_invisible(text)


@lru_cache(maxsize=4096)
def _is_secret_field(name: str) -> bool:
    return re.search(SECRET_FIELD, name) is not None


def _replace_spans(text: str, spans: Sequence[Span]) -> str:
    parts: list[str] = []
    position = 0
    for start, end, kind in sorted(spans, key=lambda found: (found[0], -found[1])):
        if start >= position:
            parts += (text[position:start], f"{REDACTED}{kind}]")
        position = max(position, end)
    parts.append(text[position:])
    return "".join(parts)


def _find_known(text: str) -> list[Span]:
    # One byte per character, so that positions in `flat` are positions in the text.
    flat = text.encode("ascii", "replace")
    found: list[Span] = []
    for prefix, shape in _BY_PREFIX:
        if prefix in flat:
            found.extend(shape.find_spans(flat, prefix))
    lowered = flat.lower()
    for word, context in _BY_WORD:
        if word in lowered:
            found.extend(context.find_spans(flat, lowered, word))
    return found


@cache
def _quick_test() -> Callable[[str], bool]:
    """A test for the quick pattern: pydantic's engine, Rust's regex, reads each character once for all of it."""
    from pydantic_core import SchemaValidator, core_schema

    return SchemaValidator(core_schema.str_schema(pattern=build_quick_pattern())).isinstance_python


def _may_hold_secret(text: str) -> bool:
    """False if a text has no secret, nor has any text, or name of a field, of which it is the JSON.

    Always true in a process that has not loaded pydantic for suites: the one that holds the token must not.
    """
    if "pydantic_core" not in sys.modules:
        return True
    return _quick_test()(text if text.isascii() else text.encode("utf-8", "replace").decode())


_REDACTOR = Redactor()
_LISTENERS: list[Callable[[], None]] = []

SEAM = b'","'
"""Without a backslash before it, its first quote ends a text, so no value crosses its comma."""
ESCAPE = b"\\"
CUT_OFFSET = 2


def redact_chunks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the redacted document in other chunks, split only where no secret can be split."""
    pending: list[bytes] = []
    tail = b""
    for chunk in chunks:
        at = _find_last_seam(tail + chunk)
        if at < 0:
            pending.append(chunk)
        else:
            document = b"".join((*pending, chunk))
            at += len(document) - len(tail) - len(chunk)
            yield remove_exact_secrets(document[:at])
            pending = [document[at:]]
        tail = pending[-1][-len(SEAM) :]
    yield remove_exact_secrets(b"".join(pending))


def _find_last_seam(text: bytes) -> int:
    """Returns the position after the comma of the last seam; negative without a seam."""
    at = text.rfind(SEAM)
    while at > 0 and text[at - 1 : at] == ESCAPE:
        at = text.rfind(SEAM, 0, at + len(SEAM) - 1)
    return at + CUT_OFFSET if at > 0 else -1
