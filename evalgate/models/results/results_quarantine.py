"""Quarantines in `results.json`."""

from __future__ import annotations

from typing import TypedDict

from evalgate.models.results.results_location import LocationDoc  # noqa: TC001  the schema is made of these types


class QuarantineDoc(TypedDict):
    """One quarantine of a suite and its status.

    `scenario` is as written and may contain `*`; `scenarios` is the number of the run's scenarios that match.
    `status` is active, expired (its scenarios block again) or unused (no scenario matches); `message` gives
    that in words, or the time left. `until` is the last valid day, `days_left` counts to it.
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
