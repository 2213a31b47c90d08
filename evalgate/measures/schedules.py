"""Recognises times in the arguments of a call: delays, moments and recurring schedules."""

from __future__ import annotations

import re
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_VALUE = r"(?:\d{1,2}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)"
_PART = rf"(?:\*|{_VALUE}(?:-{_VALUE})?)(?:/\d{{1,2}})?"
_FIELD = re.compile(rf"{_PART}(?:,{_PART})*", re.IGNORECASE | re.ASCII)
_CRON_FIELDS = 5
LONGEST_CRON = 200
"""Characters; longer text is prose."""


def is_amount(value: Any) -> bool:
    """Returns whether the value is a finite number; booleans and numeric text are not."""
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def is_moment(value: Any) -> bool:
    """Returns whether the value may be a time: non-blank text, a number, a non-empty list or object."""
    if isinstance(value, str):
        return bool(value.strip())
    return bool(value) if isinstance(value, list | dict) else is_amount(value)


def is_whole(value: Any) -> bool:
    """Returns whether the value is a whole number; 5.0 is one, as in JSON."""
    return is_amount(value) and value == int(value)


def strictly_increasing(values: Sequence[float]) -> bool:
    """Returns whether each value is greater than the previous one; true for no value and for one."""
    return all(before < after for before, after in pairwise(values))


def looks_like_cron(value: Any) -> bool:
    """Returns whether the value has five cron fields, like `0 9 * * mon-fri` or `*/15 * * * *`."""
    if not isinstance(value, str) or len(value) > LONGEST_CRON:
        return False
    fields = value.split()
    return len(fields) == _CRON_FIELDS and all(map(_FIELD.fullmatch, fields))
