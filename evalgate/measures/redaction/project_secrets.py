"""Additional secrets of a project: matches of its patterns, and values of its named fields."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.named_values import NamedValues
from evalgate.measures.redaction.secret_contexts import CONTEXTS
from evalgate.measures.redaction.token_shapes import REDACTED, SHAPES
from evalgate.measures.text.patterns import Pattern, PatternFailedError
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FIELD, EXACT = "field", "secret"
NOT_SEARCHED = "text not searched"
MAX_DEPTH = 64
MAX_SLOW_SECONDS = 1.0
"""Total time of all slow searches of one pattern."""
_SAMPLE_TEXT = "Pack my box with five dozen liquor jugs, then call me back."

Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One pattern, and the name that replaces its matches."""

    name: str
    pattern: Pattern


class ProjectSecrets:
    """The patterns and field names of one project, or of several merged."""

    def __init__(self, patterns: Sequence[SecretPattern] = (), fields: Sequence[str] = ()) -> None:
        self.patterns, self.fields = tuple(patterns), frozenset(name.casefold() for name in fields)
        self._named = NamedValues(self.fields)

    def merge(self, other: ProjectSecrets) -> ProjectSecrets:
        """Returns the secrets of both."""
        return ProjectSecrets((*self.patterns, *other.patterns), [*self.fields, *other.fields])

    def includes(self, other: ProjectSecrets) -> bool:
        """Returns whether all patterns and fields of the other are included."""
        pattern_keys = {(each.name, each.pattern.source) for each in self.patterns}
        other_keys = {(each.name, each.pattern.source) for each in other.patterns}
        return other_keys <= pattern_keys and other.fields <= self.fields

    def is_field(self, name: str) -> bool:
        """Returns whether the value of a field is always redacted."""
        return name.casefold() in self.fields

    def find_spans(self, text: str) -> Iterator[Span]:
        """Yields start, end and kind of each secret."""
        marks = self._find_marks(text)
        starts = [start for start, _ in marks]
        for span in (*self._find_pattern_spans(text), *self._find_field_spans(text)):
            index = bisect_right(starts, span[0])
            if not index or span[1] > marks[index - 1][1]:
                yield span

    def _find_marks(self, text: str) -> list[tuple[int, int]]:
        """Finds redaction marks: a text may be redacted more than once, and marks must stay unchanged."""
        return [found.span() for found in self._mark_pattern.finditer(text)] if REDACTED in text else []

    def _find_pattern_spans(self, text: str) -> Iterator[Span]:
        for each in self.patterns:
            try:
                yield from [(*place, each.name) for place in each.pattern.find_spans(text)]
            except PatternFailedError:
                yield 0, len(text), f"{each.name}, {NOT_SEARCHED}"

    def _find_field_spans(self, text: str) -> Iterator[Span]:
        if self.fields:
            yield from [(*place, FIELD) for place in self._named.find_spans(text)]

    @cached_property
    def _mark_pattern(self) -> re.Pattern[str]:
        own = [name for each in self.patterns for name in (each.name, f"{each.name}, {NOT_SEARCHED}")]
        known = [*(each.kind for each in SHAPES), *(each.kind for each in CONTEXTS)]
        names = {FIELD, EXACT, *known, *own}
        return re.compile(rf"\[redacted: (?:{'|'.join(map(re.escape, sorted(names)))})\]")


def explain_too_broad(pattern: Pattern) -> str | None:
    """Explains why a pattern would redact too much; None if it is usable. Raises PatternFailedError."""
    places = [*pattern.find_spans(""), *pattern.find_spans(_SAMPLE_TEXT)]
    if any(start == end for start, end in places):
        return "it matches where nothing is"
    hidden = sum(end - start for start, end in places)
    return "it matches ordinary text" if hidden * 4 > len(_SAMPLE_TEXT) else None


def redact_contents(value: Any, depth: int = 0) -> Any:
    """Redacts every text and number in a value; its structure stays visible."""
    if value is None or isinstance(value, bool) or value == "":
        return value
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return "[too deep]"
    if isinstance(value, dict):
        return {key: redact_contents(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [redact_contents(each, depth + 1) for each in value]
    return f"{REDACTED}{FIELD}]"
