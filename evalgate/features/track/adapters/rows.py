"""What the services are given alike of a trial: its name, its end, and the scores that it lacks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.features.track.models import PublishedRow

NOT_EVALUABLE = "evalgate.not_evaluable"
"""The key of metadata that lists the scores which could not be judged."""
FAILED = frozenset({"failed", "hard_fail"})
LATENCY_UNKNOWN = "latency_unknown"


def name_row(row: PublishedRow) -> str:
    """The scenario with its variant."""
    return row.scenario if row.variant is None else f"{row.scenario}[{row.variant}]"


def find_end(row: PublishedRow) -> datetime:
    """When the trial ended; without a known duration that is its start."""
    return row.started_at + timedelta(seconds=row.latency_seconds or 0)


def list_not_evaluable(row: PublishedRow) -> list[str]:
    """The keys of the scores that could not be judged."""
    return [score.key for score in row.scores if score.score is None]


def describe_row(row: PublishedRow) -> dict[str, str]:
    """The metadata of the trial, with what is unknown of it."""
    missing = list_not_evaluable(row)
    return {
        **row.metadata,
        **({NOT_EVALUABLE: ", ".join(missing)} if missing else {}),
        **({LATENCY_UNKNOWN: "true"} if row.latency_seconds is None else {}),
    }


def order_rows(rows: Sequence[PublishedRow]) -> list[PublishedRow]:
    """Failed trials first, then those of scenarios that have changed, each in the order of the suite."""
    return sorted(rows, key=lambda row: (row.metadata.get("status") not in FAILED, not row.is_changed))
