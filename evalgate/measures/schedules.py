"""Times that a call asks for: delays, moments and recurring schedules, told from anything else."""

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
"""Characters: what is longer is prose."""


def is_amount(value: Any) -> bool:
    """A finite number; a boolean and numeric text are none."""
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def is_moment(value: Any) -> bool:
    """Says some time: text that is not blank, a number, or a list or object with something in it."""
    if isinstance(value, str):
        return bool(value.strip())
    return bool(value) if isinstance(value, list | dict) else is_amount(value)


def is_whole(value: Any) -> bool:
    """A whole number; 5.0 is one, as in JSON."""
    return is_amount(value) and value == int(value)


def strictly_increasing(values: Sequence[float]) -> bool:
    """Each greater than the one before; true of none and of one."""
    return all(before < after for before, after in pairwise(values))


def looks_like_cron(value: Any) -> bool:
    """Five fields of a cron expression, such as `0 9 * * mon-fri` or `*/15 * * * *`."""
    if not isinstance(value, str) or len(value) > LONGEST_CRON:
        return False
    fields = value.split()
    return len(fields) == _CRON_FIELDS and all(map(_FIELD.fullmatch, fields))
