"""Days that a user names relatively: tomorrow, next Friday, in two weeks; and how long something takes."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.measures.provenance.dates import CalendarDay

_WEEK = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAYS = _WEEK.split()
_WEEKDAY = re.compile(rf"\b({'|'.join(_WEEKDAYS)}|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)\b")
_WEEKEND = re.compile(r"\bweekend\b")
_NEAR = re.compile(
    r"\b(?:to-?day|tonight|tomorrow|yesterday|next|later|earlier|before|after|previous|following|now|asap|immediately"
    r"|same day|this (?:morning|afternoon|evening|week)|last night)\b"
)
_UNITS = {"day": 1, "night": 1, "week": 7, "fortnight": 14}
_TO_TEN = "one two three four five six seven eight nine ten"
_NUMBERS = {word: number for number, word in enumerate(_TO_TEN.split(), 1)}
_DISTANCE = re.compile(rf"\b(\d{{1,3}}|an?|next|following|{'|'.join(_NUMBERS)})[ -](day|night|week|fortnight)s?\b")
_LENGTH = re.compile(rf"\b(\d{{1,3}}|an?|half an|{'|'.join(_NUMBERS)})[ -](hour|minute|min)s?\b")
NEAR_DAYS = 2
WEEKDAY_REACH = 14
"""Days within which a weekday is meant: this one or the next."""


class RelativeDays(NamedTuple):
    """What a text says of days relative to another: near it, on weekdays (Monday is 0), or so many days from it."""

    is_near: bool
    weekdays: frozenset[int]
    distances: frozenset[int]


def read_relative_days(normal: str) -> RelativeDays | None:
    """What a text in normal form says of days relatively, None if nothing.

    >>> read_relative_days("next friday, or in two weeks")
    RelativeDays(is_near=True, weekdays=frozenset({4}), distances=frozenset({14}))
    """
    weekdays = {
        next(at for at, name in enumerate(_WEEKDAYS) if name[:3] == day[:3]) for day in _WEEKDAY.findall(normal)
    }
    if _WEEKEND.search(normal):
        weekdays |= {4, 5, 6}
    distances = {_read_number(count) * _UNITS[unit] for count, unit in _DISTANCE.findall(normal)}
    is_near = _NEAR.search(normal) is not None
    found = RelativeDays(is_near, frozenset(weekdays), frozenset(distances))
    return found if is_near or weekdays or distances else None


def read_lengths(normal: str) -> frozenset[int]:
    """The lengths of time that a text in normal form names, in minutes.

    >>> sorted(read_lengths("for half an hour, or two hours, or 45 min"))
    [30, 45, 120]
    """
    return frozenset(
        30 if count == "half an" else _read_number(count) * (60 if unit == "hour" else 1)
        for count, unit in _LENGTH.findall(normal)
    )


def _read_number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS.get(word, 1)


def list_anchors(day: date, spoken: Iterable[RelativeDays]) -> Iterator[tuple[date, bool]]:
    """Yields the dates from which one would count to reach a day, and whether any text may name them.

    Without that, only what the user, the instructions or the start of the run name.
    """
    texts = list(spoken)
    if texts:
        yield from ((day + timedelta(away), True) for away in range(-NEAR_DAYS, NEAR_DAYS + 1) if away)
    if any(day.weekday() in each.weekdays for each in texts):
        yield from ((day - timedelta(away), False) for away in range(WEEKDAY_REACH + 1))
    for away in {each for text in texts for each in text.distances}:
        yield from ((day - timedelta(away), False), (day + timedelta(away), False))


def read_date(day: CalendarDay) -> date | None:
    """A date of the calendar, None for one without a year or month."""
    return None if day.year is None or day.month is None else date(day.year, day.month, day.day)
