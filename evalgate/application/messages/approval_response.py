"""The judge's answer when a run is decided again: encoded there, decoded and checked here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from evalgate.application.messages.judge_response import decode_report, encode_report
from evalgate.application.messages.request import ApprovedReport
from evalgate.errors import JudgeCrashed
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.reporting.results import results_fields as fields
from evalgate.reporting.results.approvals_doc import APPROVAL, LIMIT, PROVENANCE
from evalgate.reporting.results.results_checks import (
    ShapeError,
    check_optional,
    check_range,
    check_records,
    check_texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.approvals.review import CommentApproval
    from evalgate.models.results.results_sections import ApprovalDoc

MOST = 100_000
REFUSED: fields.Shape = (*fields.required_fields(fields.COUNT, "comment"), *fields.required_fields(fields.TEXT, "why"))
SHAPE: fields.Shape = (
    *fields.required_fields(fields.TEXT, "heading"),
    *fields.required_fields(fields.LIST, "approvals", "not_approved"),
)


def encode_approved(report: ApprovedReport) -> dict[str, Any]:
    """A report without its files, which are sent separately."""
    return {
        **encode_report(report.rendered),
        "heading": report.heading,
        "approvals": list(report.approvals[:MOST]),
        "not_approved": [{"comment": comment, "why": why} for comment, why in report.refused],
    }


def decode_approved(
    answer: Any, file: Callable[[str], bytes | None], consents: Sequence[CommentApproval]
) -> ApprovedReport:
    """Decodes the report in an answer to a request with these consents; raises like `decode_report`."""
    written = decode_report(answer, file)
    try:
        check_optional({"answer": answer}, "answer", SHAPE, ())
        approvals = [_approval(value) for value, _ in check_records(answer, "approvals", APPROVAL, ())]
        found = check_records(answer, "not_approved", REFUSED, ())
        refused = [(each["comment"], each["why"]) for each, _ in found]
    except ShapeError as error:
        raise JudgeCrashed("UnfitAnswer", [f"invalid response of the judge: {error}"]) from None
    for each in approvals:
        _check_consent(each, consents)
    return ApprovedReport(written, answer["heading"], approvals, refused)


def _check_consent(approval: ApprovalDoc, consents: Sequence[CommentApproval]) -> None:
    """Raises JudgeCrashed for an approval that refers to a comment which did not approve this scenario."""
    origin = approval.get("provenance")
    if origin is None or origin["source"] != "comment" or approval["status"] != "active":
        return
    names = ScenarioKey(approval["suite"], approval["scenario"], approval["variant"]).spellings
    for consent in consents:
        if consent.provenance.comment_id == origin["comment_id"] and (
            consent.scenario is None or consent.scenario in names
        ):
            return
    raise JudgeCrashed("UnfitAnswer", ["invalid response of the judge: an approval that nobody gave"])


def _approval(value: dict[str, Any]) -> ApprovalDoc:
    check_optional(value, "location", fields.LOCATION, ())
    check_optional(value, "limit", LIMIT, ())
    check_optional(value, "provenance", PROVENANCE, ())
    if value.get("limit") is not None:
        check_range(value["limit"], "score", 1, ())
    if value.get("checks") is not None:
        check_texts(value, "checks", ())
    return cast("ApprovalDoc", value)
