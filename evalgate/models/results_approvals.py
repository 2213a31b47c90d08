"""Approvals in `results.json`."""

from __future__ import annotations

from typing import TypedDict

from evalgate.models.results_places import LocationDoc  # noqa: TC001  the schema is made of these types


class ApprovalLimitDoc(TypedDict):
    """How bad it may get."""

    score: float


class ApprovalDoc(TypedDict):
    """One approval and what becomes of it.

    `status` is active, proposed (by a pull request; does not count), void, expired or unused; `message` says
    why, or for how long it still holds. `until` is the last day on which it does, `days_left` counts to it.
    """

    suite: str
    scenario: str
    variant: str | None
    assertion: str | None
    change: str | None
    limit: ApprovalLimitDoc | None
    trace: list[str]
    reason: str
    who: str
    until: str
    days_left: int
    status: str
    message: str
    location: LocationDoc | None
