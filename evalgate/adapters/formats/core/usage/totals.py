"""Sums the usage and cost of model calls and compares recorded totals with the sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.usage.usage_fields import sum_usages
from evalgate.models.trace.trace import unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import LlmCall, Usage, Warning_

TOLERANCE = 0.01


def sum_call_usages(calls: Sequence[LlmCall], unmetered: int = 0) -> tuple[Usage, list[Warning_]]:
    """The usage of all calls together; unknown if only some calls have it, as a part is not the total.

    `unmetered` counts further model calls that have no record and so no usage.
    """
    usages = [call["usage"] for call in calls if call["usage"] is not None]
    total = len(calls) + unmetered
    if not usages or len(usages) == total:
        return sum_usages(usages), []
    message = f"{total - len(usages)} of {total} model calls record no tokens: the tokens of the run are unknown"
    return unknown_usage(), [{"code": "tokens_incomplete", "message": message, "where": "usage"}]


def sum_call_costs(calls: Sequence[LlmCall]) -> float | None:
    """The cost of all calls together; None if the cost of one is unknown."""
    known = [call["cost_usd"] for call in calls if call["cost_usd"] is not None]
    return round(sum(known), 12) if known and len(known) == len(calls) else None


def is_known(usage: Usage) -> bool:
    """True if input and output tokens are known."""
    return usage["input_tokens"] is not None and usage["output_tokens"] is not None


def usages_differ(one: Usage, other: Usage) -> bool:
    """True if input or output tokens are known in both and differ by more than 1 %."""
    pairs = (
        (one["input_tokens"], other["input_tokens"]),
        (one["output_tokens"], other["output_tokens"]),
    )
    return any(
        first is not None and second is not None and abs(first - second) > TOLERANCE * max(first, second)
        for first, second in pairs
    )


def warn_of_mismatch(total: Usage, parts: Usage, where: str, reason: str = "") -> list[Warning_]:
    """A warning if a recorded total is not the sum of its parts."""
    if not usages_differ(total, parts):
        return []
    message = f"the recorded total is {_format_tokens(total)}, its parts add up to {_format_tokens(parts)}{reason}"
    return [{"code": "total_mismatch", "message": message, "where": where}]


def _format_tokens(usage: Usage) -> str:
    return f"{usage['input_tokens'] or 0:,} + {usage['output_tokens'] or 0:,} tokens"
