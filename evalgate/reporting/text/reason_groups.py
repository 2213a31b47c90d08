"""Groups the reasons for which the trials of a scenario fail one check, so that none hides another."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_GROUPS = 3
MOST_READ = 20
"""Failed trials of a scenario whose reasons are compared."""
_NUMBERS = re.compile(r"\b(trial|call) \d+")


def list_reasons(reasons: Sequence[str], failed: int, trials: int) -> list[str]:
    """The reasons, the most frequent first: `2 of 3: a` and `1 of 3: b`; a single one as it is.

    `reasons` are those of the first trials of the `failed` ones of all `trials`. Two are equal if they differ only in
    the numbers of trials and calls.
    """
    first: dict[str, str] = {}
    for reason in reasons:
        first.setdefault(leave_out_numbers(reason), reason)
    counts = Counter(map(leave_out_numbers, reasons)).most_common()
    if len(counts) <= 1:
        return [*reasons[:1]]
    shown = [f"{count} of {trials}: {first[key]}" for key, count in counts[:MOST_GROUPS]]
    left = len(counts) - MOST_GROUPS
    if left > 0:
        shown.append(f"and {left} more reason{'s' if left > 1 else ''}")
    if failed > len(reasons):
        shown.append(f"{failed - len(reasons):,} more trials failed")
    return shown


def leave_out_numbers(reason: str) -> str:
    """The reason without the numbers of trials and calls.

    >>> leave_out_numbers("in call 2 `x` was not called")
    'in call `x` was not called'
    """
    return _NUMBERS.sub(r"\1", reason)
