"""Approvals in `results.json`."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from evalgate.models.results.results_location import LocationDoc  # noqa: TC001  the schema is made of these types


class ApprovalLimitDoc(TypedDict):
    """The lowest approved score."""

    score: float


class ProvenanceDoc(TypedDict):
    """Where an approval was given: `source` is file, comment or shell.

    `head_commit` is the only commit that it is valid for, `permission` the person's permission in the
    repository then; `self_approved`: the person contributed to the change.
    """

    source: str
    pull_request: int | None
    comment_id: int | None
    comment_url: str | None
    head_commit: str | None
    permission: str | None
    self_approved: bool


class ApprovalDoc(TypedDict):
    """One approval and its status.

    `status` is active, proposed (by a pull request; has no effect), void, expired or unused; `message` gives
    the reason, or the time left. `until` is the last valid day, `days_left` counts to it. `checks` are the
    only assertions that may fail, absent for any; `provenance` is absent for an approval from the file.
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
    checks: NotRequired[list[str] | None]
    provenance: NotRequired[ProvenanceDoc | None]
