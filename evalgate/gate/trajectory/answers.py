"""Answers, as far as two sides of a scenario are compared in them: whole, or by the literals in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.gate.trajectory.behaviour import relate_dates
from evalgate.measures.sequences.differences import excerpt_texts
from evalgate.measures.text.plain_text import remove_emphasis
from evalgate.measures.values.json_values import CURRENCIES, CURRENCY_SIGNS
from evalgate.models.comparison.trajectory import TextPair

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.behaviour import Behaviour, FoundDifference

LONGEST_SIDE, MOST_LITERALS, SHORTEST_LITERAL = 200, 5, 3
_LITERAL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[\w$\u20ac.:/+-]*\d[\w.:/+%-]*")
_SHORT_CODE = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
_LIST_NUMBER = re.compile(r"^\s*\d{1,2}[.)](?=\s)", re.MULTILINE)
_BEFORE_AMOUNT = re.compile(rf"([{CURRENCY_SIGNS}]|\b(?:{CURRENCIES}))\s?$")
_AFTER_AMOUNT = re.compile(rf"\s?([{CURRENCY_SIGNS}%]|(?:{CURRENCIES}|euro|dollar|pound|percent)(?=s?\b))")
_AMOUNT = re.compile(rf"(?:US)?([{CURRENCY_SIGNS}]?)(\d+(?:\.\d+)?)(%?)")
_SIGN_OF = {
    **dict.fromkeys(("USD", "dollar"), "$"),
    **dict.fromkeys(("EUR", "euro"), "\u20ac"),
    **dict.fromkeys(("GBP", "pound"), "\u00a3"),
    "percent": "%",
}
"""Signs of units that are written as a word as well."""
_LONGEST_CODE = 5
"""Characters of a code, with a blank behind it and one character before it."""
_CENTS = re.compile(r"(?<=\d)\.00(?![.\d]*\d)")


def compare_answers(
    before: Sequence[Behaviour], now: Sequence[Behaviour], *, counts_one_side: bool
) -> Iterator[FoundDifference]:
    """The whole answers if each side always gives the same, else the literals that all trials of a side share.

    Literals that only one side shares are a difference if the other one has some, too, or if `counts_one_side`.
    """
    first, second = _find_only(before), _find_only(now)
    if first is not None and second is not None:
        yield from _compare_whole(first, second)
    else:
        yield from _compare_literals(before, now, counts_one_side=counts_one_side)


def _find_only(trials: Sequence[Behaviour]) -> Behaviour | None:
    """The first trial if all give its answer; None if they have several, or none."""
    first = trials[0]
    return first if first.answer is not None and all(each.answer == first.answer for each in trials) else None


def _compare_whole(before: Behaviour, now: Behaviour) -> Iterator[FoundDifference]:
    """Answers with the same literals, if there are any, differ only in their wording."""
    first, second = before.answer or "", now.answer or ""
    words, others = _read_words(before), _read_words(now)
    if len(words) != len(others) or any(map(set[str].isdisjoint, words, others)):
        literals, others_ = _index_literals(before), _index_literals(now)
        is_wording = literals and not (_find_gone([literals], [others_]) or _find_gone([others_], [literals]))
        yield "wording" if is_wording else "answer", "answer", *excerpt_texts(first, second, LONGEST_SIDE)


def _read_words(trial: Behaviour) -> list[set[str]]:
    """An answer without Markdown's emphasis, kinds of blanks and cents of whole amounts; dates as days, too."""
    words = (_CENTS.sub("", each) for each in remove_emphasis(trial.answer or "").split())
    return [{each, relate_dates(each, trial.days)} if trial.days else {each} for each in words]


def _compare_literals(
    before: Sequence[Behaviour], now: Sequence[Behaviour], *, counts_one_side: bool
) -> Iterator[FoundDifference]:
    first, second = [*map(_index_literals, before)], [*map(_index_literals, now)]
    gone, come = _find_gone(first, second), _find_gone(second, first)
    if (gone and come) or ((gone or come) and counts_one_side):
        yield "literals", "answer", _join_literals(gone), _join_literals(come)


def _find_gone(answers: Sequence[Mapping[str, str]], others: Sequence[Mapping[str, str]]) -> set[str]:
    """The literals, as they are shown, that all answers have and none of the others."""
    first = answers[0]
    shared, known = set(first).intersection(*answers), set[str]().union(*others)
    return {first[each] for each in shared} - {shown for each, shown in first.items() if each in known}


def _index_literals(trial: Behaviour) -> dict[str, str]:
    """The literals of an answer as they are shown, by how they are compared: without cents of whole amounts.

    One with a date is compared as a day, too: "tomorrow" is another date in each run. A short number is a literal if a
    call that changes something was given it.
    """
    acts = (call for call in trial.calls or () if call.changes)
    given = {value for call in acts for value in call.values.values() if len(value) < SHORTEST_LITERAL}
    found = {_CENTS.sub("", shown): shown for _, shown in _iterate_literals(trial.answer or "", given)}
    return found | {relate_dates(each, trial.days): shown for each, shown in found.items()} if trial.days else found


def _join_literals(literals: Iterable[str]) -> str:
    return ", ".join(sorted(literals)[:MOST_LITERALS])


def find_literals(answer: str) -> set[str]:
    """Numbers, ids, addresses, days and times in an answer, of three characters and more; amounts and shares of any.

    Of two characters also a letter with a digit, as of a gate.

    >>> find_literals("2 tugs to berth B7")
    {'B7'}
    """
    return {text for text, _ in _iterate_literals(answer)}


def _iterate_literals(answer: str, given: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Yields them as they are written, and amounts and shares with the sign of their unit; also those `given`."""
    plain = remove_emphasis(answer)
    for found in _LITERAL.finditer(_LIST_NUMBER.sub("", plain) if given else plain):
        text = found[0].strip(".:/+-")
        amount = _read_amount(text, found)
        if len(text) >= SHORTEST_LITERAL or amount is not None or _SHORT_CODE.fullmatch(text) or text in given:
            yield text, amount or text


def _read_amount(text: str, found: re.Match[str]) -> str | None:
    """An amount or share with its unit, which is part of the number or beside it; None for any other text."""
    number = _AMOUNT.fullmatch(text)
    if number is None:
        return text if re.search(f"[{CURRENCY_SIGNS}%]", text) else None
    answer, start = found.string, found.start()
    before = _BEFORE_AMOUNT.search(answer[max(0, start - _LONGEST_CODE) : start])
    after = _AFTER_AMOUNT.match(answer, start + len(found[0].rstrip(".:/+-")))
    unit = number[1] or number[3] or (before and before[1]) or (after and after[1])
    if not unit:
        return None
    unit = _SIGN_OF.get(unit, unit)
    return f"{number[2]}{unit}" if unit == "%" else f"{unit}{' ' if unit.isalpha() else ''}{number[2]}"


def quote_answers(before: str | None, now: str | None) -> TextPair:
    """The answers of two trials, cut."""
    shown = excerpt_texts(before or "", now or "", LONGEST_SIDE)
    return TextPair(shown[0] or None, shown[1] or None)
