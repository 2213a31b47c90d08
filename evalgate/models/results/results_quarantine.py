"""Quarantines in `results.json`."""

from __future__ import annotations

from typing import TypedDict

from evalgate.models.results.results_location import LocationDoc  # noqa: TC001  the schema is made of these types


class QuarantineDoc(TypedDict):
    """One quarantine of a suite and what becomes of it.

    `scenario` is as written and may hold `*`; `scenarios` is how many the run has of it. `status` is active,
    expired (what it names counts again) or unused (nothing has such a name); `message` says so in words, or
    for how long it still holds. `until` is the last day on which it does, `days_left` counts to it.
    """

    suite: str
    scenario: str
    variant: str | None
    scenarios: int
    reason: str
    who: str | None
    until: str
    days_left: int
    status: str
    message: str
    location: LocationDoc | None
