"""Dates and times of day in text: ISO, with slashes, spelled, ordinal, and with the signs of East Asia.

All texts here are in normal form. A date is month and day; its year is None where the text names none.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENGLISH = "january february march april may june july august september october november december"
_OTHERS = (
    "januar februar m\u00e4rz april mai juni juli august september oktober november dezember",
    "janvier f\u00e9vrier mars avril mai juin juillet ao\u00fbt septembre octobre novembre d\u00e9cembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro mar\u00e7o abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
)
_MONTHS = {name: number for line in (_ENGLISH, *_OTHERS) for number, name in enumerate(line.split(), 1)}
_MONTHS |= {name[:3]: number for number, name in enumerate(_ENGLISH.split(), 1)} | {"sept": 9}
_MONTH = f"({'|'.join(sorted(_MONTHS, key=len, reverse=True))})(?![^\\W\\d_])"
_DAY = r"(?<![\d.])([0-3]?\d)(?:st|nd|rd|th|er|\.|\u00ba)?(?![\d:])"
_YEAR = r"(?:,?\s{0,2}(?:de\s|of\s)?([12]\d{3})(?!\d))?"

_ISO = re.compile(r"(?<!\d)([12]\d{3})[-/.\u5e74\ub144]\s?(\d{1,2})[-/.\u6708\uc6d4]\s?(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)([12]\d{3})(\d{2})(\d{2})(?!\d)")
_SIGNED = re.compile(r"(\d{1,2})[\u6708\uc6d4]\s?(\d{1,2})[\u65e5\u53f7\uc77c]")
_SLASHED = re.compile(
    r"(?<![\d/.-])(\d{1,2})(?:/(\d{1,2})(?:/(\d{4}|\d{2}))?|([.-])(\d{1,2})\4(\d{4}|\d{2}))(?![\d/-])"
)
_DAY_FIRST = re.compile(rf"{_DAY}[\s-]{{0,3}}(?:of\s|de\s|di\s|of the\s)?{_MONTH}\.?-?{_YEAR}")
_MONTH_FIRST = re.compile(rf"(?<![^\W_]){_MONTH}\.?[\s-]{{0,3}}(?:the\s)?{_DAY}{_YEAR}")
_ANOTHER_DAY = re.compile(rf"\s?(?:,\s?(?:and|or)?|and|&|or|to|-|\u2013|until|till|through)\s?(?:the\s)?{_DAY}{_YEAR}")
_ORDINAL = re.compile(r"(?<!\d)([0-3]?\d)(?:st|nd|rd|th)(?![^\W_])")
_UNITS = "first second third fourth fifth sixth seventh eighth ninth"
_TEENS = "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
_WORDS = {word: number for number, word in enumerate(f"{_UNITS} {_TEENS}".split(), 1)}
_WORDS |= {f"twenty{gap}{word}": 20 + number for gap in "- " for number, word in enumerate(_UNITS.split(), 1)}
_WORDS |= {"thirtieth": 30, "thirty-first": 31, "thirty first": 31}
_WORD = re.compile(rf"\b({'|'.join(sorted(_WORDS, key=len, reverse=True))})\b")

_CLOCK = r"(?<![\d:.])([01]?\d|2[0-4])[:.h]([0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?![\d:])"
_TIME = re.compile(rf"(?:{_CLOCK}|(?<![\d:.,])(1[0-2]|0?\d))\s?([ap])\.?m\b|{_CLOCK}|\bat (\d{{1,2}})(?!\d|[:.,]\d)")
_NAMED_TIMES = {"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0)}
_MOMENT = re.compile(r"([12]\d{3}-\d{2}-\d{2})[t ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?\s?(?:z|[+-]\d{2}:?\d{2})?")
_DIGIT = re.compile(r"\d")
MAX_MOMENT = 60
"""Characters of a value that may be a date or time."""


class CalendarDay(NamedTuple):
    """A date as written; `month` is None for an ordinal alone (the 20th)."""

    month: int | None
    day: int
    year: int | None = None

    def matches(self, other: CalendarDay) -> bool:
        """Whether both may be the same date: what one of them leaves out does not count."""
        pairs = ((self.month, other.month), (self.year, other.year))
        return self.day == other.day and all(None in pair or pair[0] == pair[1] for pair in pairs)


class Moment(NamedTuple):
    """A value that is a date, a time of day in minutes, or both."""

    days: tuple[CalendarDay, ...]
    minutes: int | None


def find_days(normal: str) -> Iterator[CalendarDay]:
    """Yields the dates of a text; dates with slashes in both readings.

    >>> [(each.month, each.day, each.year) for each in find_days("on may 20 or 22, back 2024-06-01")]
    [(6, 1, 2024), (5, 20, None), (5, 22, None)]
    """
    text = _WORD.sub(lambda found: f"{_WORDS[found[1]]}th", normal)
    if not _DIGIT.search(text):
        return
    for year, month, day in (*_ISO.findall(text), *_COMPACT.findall(text)):
        yield from _build(month, day, year)
    for month, day in _SIGNED.findall(text):
        yield from _build(month, day)
    for first, slashed, slashed_year, _, dotted, dotted_year in _SLASHED.findall(text):
        second, year = slashed or dotted, slashed_year or dotted_year
        yield from _build(first, second, year)
        yield from _build(second, first, year)
    for day, month, year in _DAY_FIRST.findall(text):
        yield from _build(_MONTHS[month], day, year)
    yield from _find_month_first(text)
    for day in _ORDINAL.findall(text):
        if 1 <= int(day) <= 31:  # noqa: PLR2004  (days of a month)
            yield CalendarDay(None, int(day))


def _find_month_first(text: str) -> Iterator[CalendarDay]:
    for found in _MONTH_FIRST.finditer(text):
        month, day, year = found.groups()
        yield from _build(_MONTHS[month], day, year)
        next_one = _ANOTHER_DAY.match(text, found.end())
        while next_one:
            yield from _build(_MONTHS[month], next_one[1], next_one[2])
            next_one = _ANOTHER_DAY.match(text, next_one.end())


def _build(month: str | int, day: str, year: str | None = None) -> Iterator[CalendarDay]:
    written = int(year) if year else None
    full_year = written + 2000 if written is not None and written < 100 else written  # noqa: PLR2004  (two digits)
    try:
        date(full_year or 2024, int(month), int(day))
    except ValueError:
        return
    yield CalendarDay(int(month), int(day), full_year)


def find_times(normal: str) -> Iterator[int]:
    """Yields the times of day of a text as minutes; without am or pm an hour up to 12 is both.

    >>> list(find_times("2:30 pm, at 3, 17:05"))
    [870, 180, 900, 1025]
    """
    for hour, minute, bare, half, hour_24, minute_24, at in _TIME.findall(normal):
        if half:
            yield (int(hour or bare) % 12 + 12 * (half == "p")) * 60 + int(minute or 0)
            continue
        found = int(hour_24 or at) % 24
        yield found * 60 + int(minute_24 or 0)
        if found <= 12 and not (hour_24 or "").startswith("0"):  # noqa: PLR2004  (half a day)
            yield (found + 12) % 24 * 60 + int(minute_24 or 0)
    yield from (hour * 60 + minute for word, (hour, minute) in _NAMED_TIMES.items() if word in normal)


def read_moment(normal: str) -> Moment | None:
    """The date and time that a whole value is, None for any other value.

    >>> read_moment("2024-05-20t14:30:00z"), read_moment("room 20")
    (Moment(days=(CalendarDay(month=5, day=20, year=2024),), minutes=870), None)
    """
    text = normal.strip()
    if len(text) > MAX_MOMENT or not _DIGIT.search(text):
        return None
    both = _MOMENT.fullmatch(text)
    if both:
        return Moment(tuple(find_days(both[1])), int(both[2]) % 24 * 60 + int(both[3]))
    if _TIME.fullmatch(text) and not text.startswith("at"):
        return Moment((), next(find_times(text)))
    if any(each.fullmatch(text) for each in (_ISO, _COMPACT, _SIGNED, _SLASHED, _DAY_FIRST, _MONTH_FIRST)):
        days = tuple(each for each in find_days(text) if each.month is not None)
        return Moment(days, None) if days else None
    return None
