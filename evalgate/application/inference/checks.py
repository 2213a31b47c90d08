"""An inferred check: an entry of a suite with the reason why it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

Strictness = Literal["loose", "normal", "strict"]
MANY = 3
"""Trials from which what is the same in all is more than chance."""


class InferredCheck(NamedTuple):
    """An assertion as it is written, and its reason; `is_active` is False for a suggestion in a comment."""

    entry: dict[str, Any]
    reason: str
    is_active: bool = True


def count_trials(count: int, trials: Sequence[Trace]) -> str:
    """The reason of a line.

    >>> count_trials(1, [])
    'in 1 of 0 trials'
    """
    noun = "trial" if len(trials) == 1 else "trials"
    return f"in {count:,} of {len(trials):,} {noun}"
