"""Which texts of an index hold a value, in any of the forms in which people and tools write it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.measures.provenance.dates import read_moment
from evalgate.measures.provenance.normal_form import (
    join_digits,
    join_uuid,
    list_local_numbers,
    normalize,
    read_written_number,
    split_tokens,
    write_number,
)
from evalgate.measures.provenance.opened import open_text
from evalgate.measures.values.json_values import CURRENCIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.measures.provenance.text_index import TextIndex

_PARTS = re.compile(r"[,;|\n]")
_JOINED = re.compile(r"[a-z]+[ _-]?\d+")
_MONEY = re.compile(rf"(?:({CURRENCIES})\s?)?(\d[\d.,]*)(?:\s?({CURRENCIES}))?")
_CALCULATION = re.compile(r"[\d\s.+*/()-]+")
_OPERATOR = re.compile(r"\d\)? [-+*/] \(?\d|\d\)?[+*]\(?\d")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
MAX_PARTS = 20


def find_texts(index: TextIndex, value: Any) -> list[int]:
    """The texts that hold a value, in order."""
    if isinstance(value, str):
        return sorted({number for form in open_text(value, whole=True) for number in _find_form(index, form)})
    return index.find_run([write_number(value)])


def _find_form(index: TextIndex, text: str) -> Iterator[int]:
    normal = normalize(text)
    tokens = split_tokens(normal)
    is_one_id = len(text.split()) == 1 and is_identifier(text)  # which no one puts together from several texts
    yield from index.find_run(tokens, in_piece=is_one_id)
    for joined in (
        join_digits(normal),
        join_uuid(normal),
        read_written_number(normal),
        _join_word(normal),
        *list_local_numbers(normal),
    ):
        if joined is not None:
            yield from index.find_run([joined])
    moment = read_moment(normal)
    if moment is not None and moment.minutes is None:
        yield from (number for day in moment.days for number in index.find_day(day))
    if moment is not None and not moment.days and moment.minutes is not None:
        yield from index.find_time(moment.minutes)
    if len(tokens) > 1 and len(text.split()) > 1 and not any(map(str.isdigit, normal)):
        yield from index.find_all(tokens)


def _join_word(normal: str) -> str | None:
    """A word and the number behind it as one token."""
    text = normal.strip()
    return re.sub(r"[ _-]", "", text) if _JOINED.fullmatch(text) else None


def split_value(value: Any) -> list[str]:
    """The parts of a list that is written in a text, of an amount with its currency, and the numbers of a calculation.

    None for any other value.

    >>> split_value("ann@example.com; bob@example.com"), split_value("(158 + 141) * 12"), split_value("2024-05-20")
    (['ann@example.com', 'bob@example.com'], ['158', '141', '12'], [])
    """
    if not isinstance(value, str):
        return []
    money = _MONEY.fullmatch(value.strip())
    if money and (money[1] or money[3]):
        return [each for each in money.groups() if each]
    is_calculation = _CALCULATION.fullmatch(value) and _OPERATOR.search(value)
    parts = _NUMBER.findall(value) if is_calculation else [each.strip() for each in _PARTS.split(value)]
    return [each for each in parts if each] if 1 < len(parts) <= MAX_PARTS else []


def is_identifier(value: Any) -> bool:
    """Whether a value looks like an id, an address or a long number: three digits or an @, and no date.

    >>> [is_identifier(each) for each in ("W2378156", "ann@example.com", "2024-05-20", "JFK")]
    [True, True, False, False]
    """
    text = value if isinstance(value, str) else ""
    looks_so = "@" in text or sum(map(str.isdigit, text)) > 2  # noqa: PLR2004  (three digits)
    return looks_so and read_moment(normalize(text)) is None
