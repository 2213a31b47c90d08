"""Sums the usage and cost of model calls and compares recorded totals with the sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.usage.usage_fields import summed
from evalgate.models.trace.trace import unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import LlmCall, Usage, Warning_

TOLERANCE = 0.01


def sum_of_calls(calls: Sequence[LlmCall], silent: int = 0) -> tuple[Usage, list[Warning_]]:
    """The usage of all calls together; unknown if only some calls have it, as a part is no total.

    `unmetered` counts further model calls that have no record and so no usage.
    """
    told = [call["usage"] for call in calls if call["usage"] is not None]
    of = len(calls) + silent
    if not told or len(told) == of:
        return summed(told), []
    said = f"{of - len(told)} of {of} model calls tell no tokens: those of the run are not known"
    return unknown_usage(), [{"code": "tokens_incomplete", "message": said, "where": "usage"}]


def cost_of_calls(calls: Sequence[LlmCall]) -> float | None:
    """The cost of all calls together; None if the cost of one is unknown."""
    known = [call["cost_usd"] for call in calls if call["cost_usd"] is not None]
    return round(sum(known), 12) if known and len(known) == len(calls) else None


def is_known(usage: Usage) -> bool:
    """True if input and output tokens are known."""
    return usage["input_tokens"] is not None and usage["output_tokens"] is not None


def differs(one: Usage, other: Usage) -> bool:
    """True if input or output tokens are known in both and differ by more than 1 %."""
    pairs = (
        (one["input_tokens"], other["input_tokens"]),
        (one["output_tokens"], other["output_tokens"]),
    )
    return any(
        first is not None and second is not None and abs(first - second) > TOLERANCE * max(first, second)
        for first, second in pairs
    )


def mismatch(total: Usage, parts: Usage, where: str, reason: str = "") -> list[Warning_]:
    """A warning if a recorded total is not the sum of its parts."""
    if not differs(total, parts):
        return []
    said = f"the recorded total is {_shown(total)}, its parts sum up to {_shown(parts)}{reason}"
    return [{"code": "total_mismatch", "message": said, "where": where}]


def _shown(usage: Usage) -> str:
    return f"{usage['input_tokens'] or 0:,} + {usage['output_tokens'] or 0:,} tokens"
