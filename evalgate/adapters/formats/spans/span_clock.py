"""Formats span times for traces and warns of implausible clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.models.trace.trace import Warning_

FASTEST_TOKENS_A_MS = 5.0  # no provider answers with 5,000 tokens a second; replays do


def format_rfc3339(time_ns: int | None) -> str | None:
    """Nanoseconds since 1970 as RFC 3339 in UTC, to the microsecond; None if out of the calendar's range."""
    if time_ns is None:
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_ns // 1000)
    except OverflowError:
        return None
    return moment.isoformat().replace("+00:00", "Z")


def clock_warnings(total_ms: float | None, calls: Sequence[ModelCall]) -> list[Warning_]:
    """Warns if models answered faster than any can: a replayed trace or made-up timestamps."""
    tokens, spent_ms = 0, 0.0
    for call in calls:
        output_tokens = None if call.usage is None else call.usage["output_tokens"]
        if output_tokens and call.duration_ms is not None:
            tokens += output_tokens
            spent_ms += call.duration_ms
    if total_ms == 0:
        message = "the run took no time at all: its timestamps may be synthetic"
    elif tokens and tokens > spent_ms * FASTEST_TOKENS_A_MS:
        message = (
            f"{tokens:,} tokens were generated in {spent_ms:,.1f} ms: this is a replay, or the timestamps are synthetic"
        )
    else:
        return []
    return [{"code": "suspicious_latency", "message": message, "where": "latency"}]
