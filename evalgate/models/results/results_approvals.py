"""Approvals in `results.json`."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from evalgate.models.results.results_location import LocationDoc  # noqa: TC001  the schema is made of these types


class ApprovalLimitDoc(TypedDict):
    """How bad it may get."""

    score: float


class ProvenanceDoc(TypedDict):
    """Where an approval was given: `source` is file, comment or shell.

    `head_commit` is the only commit that it holds for, `permission` what the person might do in the
    repository; `self_approved`: by somebody who had a part in the change.
    """

    source: str
    pull_request: int | None
    comment_id: int | None
    comment_url: str | None
    head_commit: str | None
    permission: str | None
    self_approved: bool


class ApprovalDoc(TypedDict):
    """One approval and what becomes of it.

    `status` is active, proposed (by a pull request; does not count), void, expired or unused; `message` says
    why, or for how long it still holds. `until` is the last day on which it does, `days_left` counts to it.
    `checks` are all that may fail, absent for any; `provenance` is absent where it stands in the file.
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
