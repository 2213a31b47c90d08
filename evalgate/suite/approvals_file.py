"""The model of `evalgate-approvals.yaml`, and its approvals with their locations."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from evalgate.evaluators.core.evaluator import wrap_in_list
from evalgate.models.approvals.approval import Approval
from evalgate.strict_model import StrictModel
from evalgate.suite.policy import Share
from evalgate.suite.suite_file import Day, Id, Text

if TYPE_CHECKING:
    from evalgate.suite.diagnostics import Diagnostics, Document

MAX_APPROVALS = 1_000
Name = Annotated[str, Field(min_length=1, max_length=512)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
CheckDigest = Annotated[str, Field(pattern="^(?:[0-9a-f]{32}|run_failed)$")]
MAX_COVERED = 1_000
Sentence = Annotated[Text, Field(min_length=1, max_length=1_000)]


class LimitEntry(StrictModel):
    """The lowest score of the scenario that is approved."""

    score: Share


class ApprovalEntry(StrictModel):
    """One approval as written: of a scenario, of one check in it, or of one kind of change.

    `until` is the last day on which it holds. `trace` is the sha256 of the trace that may fail, or a list; `covers`
    are the digests of the checks that may fail, as `evalgate approve` writes them.
    """

    suite: Name
    scenario: Id
    variant: Name | None = None
    assertion: Name | None = None
    change: Literal["broken", "regressed"] | None = None
    limit: LimitEntry | None = None
    reason: Sentence
    who: Annotated[str, Field(min_length=1, max_length=200)]
    until: Day
    trace: Annotated[list[Sha256], BeforeValidator(wrap_in_list), Field(min_length=1)] | None = None
    covers: Annotated[list[CheckDigest], BeforeValidator(wrap_in_list), Field(max_length=MAX_COVERED)] | None = None


class ApprovalsFile(StrictModel):
    """`evalgate-approvals.yaml` as written."""

    version: Literal[1] = 1
    approvals: Annotated[list[ApprovalEntry], Field(max_length=MAX_APPROVALS)]


def parse_approvals(document: Document, diagnostics: Diagnostics) -> list[Approval]:
    """The approvals of a loaded file; none if it has errors, which are added to `diagnostics`."""
    file = diagnostics.read_model(document, ApprovalsFile)
    if file is None:
        return []
    return [_build_approval(entry, document, number) for number, entry in enumerate(file.approvals)]


def _build_approval(entry: ApprovalEntry, document: Document, number: int) -> Approval:
    return Approval(
        suite=entry.suite,
        scenario=entry.scenario,
        variant=entry.variant,
        assertion=entry.assertion,
        change=entry.change,
        least_score=entry.limit.score if entry.limit is not None else None,
        reason=entry.reason,
        who=entry.who,
        until=date.fromisoformat(entry.until),
        traces=frozenset(entry.trace or ()),
        location=document.locate(("approvals", number)),
        covers=None if entry.covers is None else frozenset(entry.covers),
    )
