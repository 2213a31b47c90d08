"""Redacts secrets in text: token shapes, values after names like `password`, and exact secrets.

Ordinary text costs little: shapes are searched only in long unbroken runs, contexts ("password=...") only
if one of their words occurs. No pattern backtracks over more than a bounded length.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.secret_contexts import CONTEXTS, NAME_END, is_secret_field, may_have_context
from evalgate.measures.redaction.token_shapes import REDACTED, SHAPES, SHORTEST_SHAPE
from evalgate.measures.text.plain_text import hides_nothing, without_invisible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.measures.redaction.exact_secrets import ExactSecrets
    from evalgate.measures.redaction.project_secrets import ProjectSecrets

MAX_DEPTH = 64
MOST_GLUED = 8
"""How often a text is searched again after something in it was redacted."""
_SHORTEST = 8  # `://u:p@h`: no recognised secret is shorter
_RUN_CHARACTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-."
_AS_RUNS = bytes(1 if byte in _RUN_CHARACTERS else 0 for byte in range(256))
_LONG_RUN = b"\x01" * SHORTEST_SHAPE
_SHORT, _LARGE = 1_000, 100_000
_BY_PREFIX = {prefix: shape for shape in SHAPES for prefix in shape.prefixes}
_BY_WORD = [(word, context) for context in CONTEXTS for word in context.words]

Span = tuple[int, int, str]


def redact(text: str) -> str:
    """Replaces every recognised secret in the text by `[redacted: <kind>]`."""
    return _PLAIN.text(text)


def redact_value(value: Any) -> Any:
    """Redacts the texts of a JSON value, and whole texts under names like `password`."""
    return _PLAIN.value(value)


def redact_field(name: str, clean: Any) -> Any:
    """Redacts the whole of a value, its texts already redacted, if its name is like `password`."""
    return _PLAIN.field(name, clean)


def hide(secrets: Iterable[str]) -> None:
    """Makes this process redact these values; they replace all secrets set earlier."""
    _PLAIN.exact, _PLAIN.own = _exactly(secrets), None
    _forget()


def hide_too(own: ProjectSecrets) -> None:
    """Makes this process redact the secrets of a project too."""
    if _PLAIN.own is not None and _PLAIN.own.has(own):
        return
    _PLAIN.own = own if _PLAIN.own is None else _PLAIN.own.joined(own)
    _forget()


def when_others_are_hidden(forget: Callable[[], None]) -> None:
    """Calls `listener` whenever the secrets change, so that caches of redacted texts can be cleared."""
    _KEEPERS.append(forget)


def _forget() -> None:
    for forget in _KEEPERS:
        forget()


def also_hidden() -> ProjectSecrets | None:
    """Returns the secrets of projects so far, so that other processes can redact them too."""
    return _PLAIN.own


def without_hidden(document: bytes) -> bytes:
    """Removes the exact secrets of this process from a document that another process wrote."""
    return _PLAIN.exact.taken_out_of(document) if _PLAIN.exact else document


def _exactly(secrets: Iterable[str]) -> ExactSecrets | None:
    known = set(secrets)
    if not known:
        return None
    from evalgate.measures.redaction.exact_secrets import ExactSecrets  # most runs have none

    return ExactSecrets(known)


class Redactor:
    """Redacts known token shapes, exact secrets, and the secrets of a project."""

    def __init__(self, exact: Iterable[str] = ()) -> None:
        self.exact = _exactly(exact)
        self.own: ProjectSecrets | None = None

    def text(self, text: str) -> str:
        """Redacts secrets in the text, even if invisible characters split them."""
        if (
            self.own is None
            and (len(text) < _SHORTEST or _is_ordinary(text))
            and (self.exact is None or not self.exact.are_in(without_invisible(text)))
        ):
            return text
        bare = without_invisible(text)
        clean = self._replaced(bare)
        return text if clean == bare else clean

    def value(self, value: Any, depth: int = 0) -> Any:
        """Redacts secrets in a JSON value; values nested deeper than 64 levels are left out."""
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict | list):
            return value
        if depth >= MAX_DEPTH:
            return "[too deep]"
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        return {
            self.text(str(key)): self.field(str(key), self.value(item, depth + 1))
            for key, item in value.items()
        }

    def field(self, name: str, clean: Any) -> Any:
        """Redacts the whole of a value, its texts already redacted, if its name marks it as a secret."""
        if isinstance(clean, str) and clean and _is_secret_field(without_invisible(name)[-NAME_END:]):
            return f"{REDACTED}field]"
        if self.own is not None and self.own.is_field(without_invisible(name)):
            from evalgate.measures.redaction.project_secrets import emptied  # most projects have none

            return emptied(clean)
        return clean

    def _replaced(self, text: str) -> str:
        spans = self._found(text)
        if self.exact is not None:
            spans = [*self.exact.spans(text), *spans]
        # Text next to a secret may be a secret too, recognised only after that one is replaced.
        for _ in range(MOST_GLUED):
            if not spans:
                break
            before, text = text, _without(text, spans)
            if text == before:
                break
            spans = self._found(text)
        return text

    def _found(self, text: str) -> list[Span]:
        return [*_recognised(text)] if self.own is None else [*_recognised(text), *self.own.spans(text)]


def _without(text: str, spans: Sequence[Span]) -> str:
    parts: list[str] = []
    position = 0
    for start, end, kind in sorted(spans, key=lambda found: (found[0], -found[1])):
        if start >= position:
            parts += (text[position:start], f"{REDACTED}{kind}]")
        position = max(position, end)
    parts.append(text[position:])
    return "".join(parts)


def _is_ordinary(text: str) -> bool:
    """Returns whether no secret is possible: no invisible character, token-like run or context word."""
    if not text.isascii():
        if not hides_nothing(text):
            return False
        text = text.encode("ascii", "replace").decode()
    if len(text) >= SHORTEST_SHAPE:
        flat = text.encode()
        if _LONG_RUN in flat.translate(_AS_RUNS):
            runs = _long_runs(flat)
            if len(runs) > _SHORT or _first_of_prefix().search(runs) is not None:
                return False
    return not may_have_context(text)


def _recognised(text: str) -> list[Span]:
    # One byte per character, so that positions in `flat` are positions in the text.
    flat = text.encode("ascii", "replace")
    found: list[Span] = []
    if len(flat) >= SHORTEST_SHAPE and (runs := _long_runs(flat)):
        for prefix in _prefixes_in(runs):
            found.extend(_BY_PREFIX[prefix].spans(flat, prefix))
    if may_have_context(flat.decode()):
        lowered = flat.lower()
        for word, context in _BY_WORD:
            if word in lowered:
                found.extend(context.spans(flat, lowered, word))
    return found


def _prefixes_in(runs: bytes) -> Iterable[bytes]:
    """Returns the prefixes that occur, searched together, or one by one if the runs are long."""
    if len(runs) < _LARGE:
        return set(_any_prefix().findall(runs))
    characters = frozenset(runs)
    return [prefix for prefix in _BY_PREFIX if characters.issuperset(prefix) and prefix in runs]


@cache
def _first_of_prefix() -> re.Pattern[bytes]:
    """Returns a pattern of all prefixes, grouped by first byte, as most positions have none of these."""
    rest: dict[bytes, list[bytes]] = {}
    for prefix in sorted(_BY_PREFIX):
        rest.setdefault(prefix[:1], []).append(re.escape(prefix[1:]))
    return re.compile(b"|".join(re.escape(first) + b"(?:%b)" % b"|".join(rest[first]) for first in rest))


@cache
def _any_prefix() -> re.Pattern[bytes]:
    longest_first = sorted(_BY_PREFIX, key=lambda prefix: (-len(prefix), prefix))
    return re.compile(b"(?=(" + b"|".join(map(re.escape, longest_first)) + b"))")


def _long_runs(flat: bytes) -> bytes:
    """Returns the runs that can contain a token, with one byte before each: mostly a few names."""
    runs = flat.translate(_AS_RUNS)
    start = runs.find(_LONG_RUN)
    parts: list[bytes] = []
    while start >= 0:
        end = runs.find(b"\x00", start + SHORTEST_SHAPE)
        end = len(flat) if end < 0 else end
        parts.append(flat[max(0, start - 1) : end])
        start = runs.find(_LONG_RUN, end)
    return b" ".join(parts)


_is_secret_field = lru_cache(maxsize=4096)(is_secret_field)
_PLAIN = Redactor()
_KEEPERS: list[Callable[[], None]] = []
