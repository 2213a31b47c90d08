"""What a project hides beside the known secrets: what its patterns find, and values under names of fields."""

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
MOST_NESTED = 64
SLOW_SECONDS = 1.0
"""What all slow searches of one pattern may take together."""
_ORDINARY = "Pack my box with five dozen liquor jugs, then call me back."

Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class HiddenText:
    """One pattern and the name that stands where it found something."""

    name: str
    pattern: Pattern


class ProjectSecrets:
    """The patterns and the field names of one project, or of several together."""

    def __init__(self, texts: Sequence[HiddenText] = (), fields: Sequence[str] = ()) -> None:
        self.texts, self.fields = tuple(texts), frozenset(name.casefold() for name in fields)
        self._named = NamedValues(self.fields)

    def joined(self, other: ProjectSecrets) -> ProjectSecrets:
        """All that either hides."""
        return ProjectSecrets((*self.texts, *other.texts), [*self.fields, *other.fields])

    def has(self, other: ProjectSecrets) -> bool:
        """Whether nothing of the other is new."""
        known = {(each.name, each.pattern.source) for each in self.texts}
        theirs = {(each.name, each.pattern.source) for each in other.texts}
        return theirs <= known and other.fields <= self.fields

    def is_field(self, name: str) -> bool:
        """Whether the value under a name is hidden, whatever it is."""
        return name.casefold() in self.fields

    def spans(self, text: str) -> Iterator[Span]:
        """Where something to hide stands, from and to, and what it is."""
        marks = self._marks(text)
        starts = [start for start, _ in marks]
        for span in (*self._found(text), *self._behind_names(text)):
            before = bisect_right(starts, span[0])
            if not before or span[1] > marks[before - 1][1]:
                yield span

    def _marks(self, text: str) -> list[tuple[int, int]]:
        """What was put in before: texts pass more than one door, and a mark is not to be marked."""
        return [found.span() for found in self._mark.finditer(text)] if REDACTED in text else []

    def _found(self, text: str) -> Iterator[Span]:
        for each in self.texts:
            try:
                yield from [(*place, each.name) for place in each.pattern.places_in(text)]
            except PatternFailedError:
                yield 0, len(text), f"{each.name}, {NOT_SEARCHED}"

    def _behind_names(self, text: str) -> Iterator[Span]:
        if self.fields:
            yield from [(*place, FIELD) for place in self._named.places(text)]

    @cached_property
    def _mark(self) -> re.Pattern[str]:
        own = [name for each in self.texts for name in (each.name, f"{each.name}, {NOT_SEARCHED}")]
        known = [*(each.kind for each in SHAPES), *(each.kind for each in CONTEXTS)]
        names = {FIELD, EXACT, *known, *own}
        return re.compile(rf"\[redacted: (?:{'|'.join(map(re.escape, sorted(names)))})\]")


def hides_too_much(pattern: Pattern) -> str | None:
    """Why a pattern would leave nothing to read; None where it may be used. Raises PatternFailedError."""
    places = [*pattern.places_in(""), *pattern.places_in(_ORDINARY)]
    if any(start == end for start, end in places):
        return "it matches where nothing is"
    hidden = sum(end - start for start, end in places)
    return "it matches ordinary text" if hidden * 4 > len(_ORDINARY) else None


def emptied(value: Any, depth: int = 0) -> Any:
    """A value with every text and number in it hidden; what it is made of stays to be seen."""
    if value is None or isinstance(value, bool) or value == "":
        return value
    if isinstance(value, dict | list) and depth >= MOST_NESTED:
        return "[too deep]"
    if isinstance(value, dict):
        return {key: emptied(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [emptied(each, depth + 1) for each in value]
    return f"{REDACTED}{FIELD}]"
