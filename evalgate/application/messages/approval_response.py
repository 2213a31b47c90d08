"""The judge's answer when a run is decided again: encoded there, decoded and checked here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from evalgate.application.messages.judge_response import told_written, written_of
from evalgate.application.messages.request import ApprovedReport
from evalgate.errors import JudgeCrashed
from evalgate.reporting.results import results_fields as fields
from evalgate.reporting.results.approvals_doc import APPROVAL, LIMIT, PROVENANCE
from evalgate.reporting.results.results_checks import Mistake, bound, maybe, records, texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.results.results_approvals import ApprovalDoc

MOST = 100_000
REFUSED: fields.Shape = (*fields.needed(fields.COUNT, "comment"), *fields.needed(fields.TEXT, "why"))
SHAPE: fields.Shape = (
    *fields.needed(fields.TEXT, "heading"),
    *fields.needed(fields.LIST, "approvals", "not_approved"),
)


def told_approved(report: ApprovedReport) -> dict[str, Any]:
    """A report without its files, which are sent separately."""
    return {
        **told_written(report.written),
        "heading": report.heading,
        "approvals": list(report.told[:MOST]),
        "not_approved": [{"comment": comment, "why": why} for comment, why in report.refused],
    }


def approved_of(answer: Any, file: Callable[[str], bytes | None]) -> ApprovedReport:
    """Decodes the report in an answer; raises like `decode_report`."""
    written = written_of(answer, file)
    try:
        maybe({"answer": answer}, "answer", SHAPE, ())
        approvals = [_approval(value) for value, _ in records(answer, "approvals", APPROVAL, ())]
        found = records(answer, "not_approved", REFUSED, ())
        refused = [(each["comment"], each["why"]) for each, _ in found]
    except Mistake as mistake:
        raise JudgeCrashed("UnfitAnswer", [f"the judge answers what it may not: {mistake}"]) from None
    return ApprovedReport(written, answer["heading"], approvals, refused)


def _approval(value: dict[str, Any]) -> ApprovalDoc:
    maybe(value, "location", fields.LOCATION, ())
    maybe(value, "limit", LIMIT, ())
    maybe(value, "provenance", PROVENANCE, ())
    if value.get("limit") is not None:
        bound(value["limit"], "score", 1, ())
    if value.get("checks") is not None:
        texts(value, "checks", ())
    return cast("ApprovalDoc", value)
