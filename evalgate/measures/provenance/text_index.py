"""An index of texts by their tokens: which texts hold a value, in time linear in the texts."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from evalgate.measures.provenance.dates import CalendarDay, find_days, find_times
from evalgate.measures.provenance.normal_form import list_aliases, normalize, split_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BETWEEN_PIECES = "\n;\n"
"""Tokens follow one another across it; dates and numbers do not."""
MAX_STEPS = 10_000_000
"""Occurrences that one index looks at. Beyond, values have no known source: `is_exhausted`."""


class TextIndex:
    """Texts, numbered from 0 in the order in which they were added."""

    def __init__(self) -> None:
        self._tokens: list[str] = []
        self._starts: list[int] = []
        self._piece_starts: list[int] = []
        self._places: dict[str, list[int]] = {}
        self._aliases: dict[str, list[int]] = {}
        self._days: dict[int, dict[CalendarDay, list[int]]] = {}
        self._times: dict[int, list[int]] = {}
        self._found: dict[tuple[bool, tuple[str, ...]], list[int]] = {}
        self._steps = 0

    @property
    def is_exhausted(self) -> bool:
        """Whether some value was not looked for in all of the texts."""
        return self._steps > MAX_STEPS

    def add(self, pieces: Iterable[str]) -> int:
        """Adds a text of several pieces, which follow one another; returns its number."""
        number = len(self._starts)
        self._starts.append(len(self._tokens))
        normal = normalize(BETWEEN_PIECES.join(pieces))
        tokens = list[str]()
        for piece in normal.split(BETWEEN_PIECES):
            self._piece_starts.append(len(self._tokens) + len(tokens))
            tokens += split_tokens(piece)
        for place, token in enumerate(tokens, len(self._tokens)):
            self._places.setdefault(token, []).append(place)
        self._tokens.extend((*tokens, ""))  # no value reaches from one text into the next
        for alias in dict.fromkeys(list_aliases(normal, tokens)):
            self._aliases.setdefault(alias, []).append(number)
        self._add_times(normal, number)
        return number

    def _add_times(self, normal: str, number: int) -> None:
        for day in dict.fromkeys(find_days(normal)):
            self._days.setdefault(day.day, {}).setdefault(day, []).append(number)
        for minutes in dict.fromkeys(find_times(normal)):
            self._times.setdefault(minutes, []).append(number)

    def find_run(self, tokens: Sequence[str], *, in_piece: bool = False) -> list[int]:
        """The texts that hold the tokens in a run, in order; `in_piece` in one and the same piece."""
        key = (in_piece, tuple(tokens))
        if key not in self._found:
            self._found[key] = self._look_for(key[1], in_piece=in_piece)
        return self._found[key]

    def _look_for(self, wanted: tuple[str, ...], *, in_piece: bool) -> list[int]:
        everywhere = [self._places.get(token, []) for token in wanted]
        rarest = min(range(len(wanted)), key=lambda at: len(everywhere[at]), default=None)
        if rarest is None or not self._may_look(len(everywhere[rarest])):
            return []
        starts = [place - rarest for place in everywhere[rarest]]
        if len(wanted) > 1:
            size = len(wanted)
            starts = [at for at in starts if at >= 0 and tuple(self._tokens[at : at + size]) == wanted]
            starts = [at for at in starts if not in_piece or self._piece_of(at) == self._piece_of(at + size - 1)]
        found = [bisect_right(self._starts, at) - 1 for at in starts]
        aliases = self._aliases.get(wanted[0], []) if len(wanted) == 1 else []
        return sorted({*found, *aliases})

    def _piece_of(self, place: int) -> int:
        return bisect_right(self._piece_starts, place)

    def find_all(self, tokens: Iterable[str]) -> list[int]:
        """The texts that hold each of the tokens, wherever."""
        each = [set(self.find_run([token])) for token in dict.fromkeys(tokens)]
        return sorted(set.intersection(*each)) if each else []

    def find_day(self, day: CalendarDay) -> list[int]:
        """The texts that name a date."""
        named = self._days.get(day.day, {})
        return sorted({number for each, texts in named.items() if each.matches(day) for number in texts})

    def find_time(self, minutes: int) -> list[int]:
        """The texts that name a time of day."""
        return self._times.get(minutes, [])

    def list_tokens(self) -> Iterable[str]:
        """Every token once, in the order in which they first stand."""
        return self._places

    def _may_look(self, steps: int) -> bool:
        self._steps += steps
        return not self.is_exhausted
