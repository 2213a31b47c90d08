"""Quarantine: scenarios of a suite that are judged and shown, and decide nothing until a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.records import dataclass

if TYPE_CHECKING:
    from datetime import date

    from evalgate.errors import Location

LONGEST_DAYS = 90
"""How many days ahead the last day of a quarantine may lie: it is a pause, no way to get rid of a check."""

QuarantineStatus = Literal["active", "expired", "unused"]


@dataclass(frozen=True, slots=True)
class Quarantine:
    """One quarantine as written. `scenario` may hold `*`; `variant` None means every variant.

    `until` is the last day on which it holds.
    """

    scenario: str
    variant: str | None
    reason: str
    until: date
    who: str | None
    location: Location | None


class QuarantineRuling(NamedTuple):
    """What becomes of one quarantine in a run. `scenarios` is how many of the suite it is about."""

    suite: str
    quarantine: Quarantine
    status: QuarantineStatus
    message: str
    days_left: int
    scenarios: int
