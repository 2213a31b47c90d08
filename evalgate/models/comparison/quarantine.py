"""Quarantine: scenarios that are judged and shown, and do not block until a date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import date

    from evalgate.errors import Location

MAX_DAYS = 90
"""Maximum days until the end of a quarantine: it is a pause, not a way to remove an assertion."""

QuarantineStatus = Literal["active", "expired", "unused"]


class Quarantine(Struct, frozen=True):
    """One quarantine as written. `scenario` may contain `*`; a `variant` of None means every variant.

    `until` is its last valid day.
    """

    scenario: str
    variant: str | None
    reason: str
    until: date
    who: str | None
    location: Location | None


class QuarantineRuling(NamedTuple):
    """The status of one quarantine in a run. `scenarios` is the number of scenarios it matches."""

    suite: str
    quarantine: Quarantine
    status: QuarantineStatus
    message: str
    days_left: int
    scenarios: int
