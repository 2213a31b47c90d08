"""Parses an approvals file (YAML), within size limits, and reports all errors together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.suites import yaml_tree
from evalgate.errors import Location, OverLimit, Problem, SuiteError
from evalgate.models.approvals.approval import MAX_FILE_BYTES
from evalgate.suite.approvals_file import parse_approvals
from evalgate.suite.diagnostics import Diagnostics

if TYPE_CHECKING:
    from evalgate.models.approvals.approval import Approval, ApprovalFile


def read_approvals(file: ApprovalFile) -> list[Approval]:
    """The approvals of a file, which may be empty; raises SuiteError with every error, or OverLimit."""
    location = Location(file.path)
    if len(file.content) > MAX_FILE_BYTES:
        raise OverLimit(Problem(f"approvals are larger than {MAX_FILE_BYTES:,} bytes", location))
    try:
        document = yaml_tree.load(file.content.decode("utf-8-sig"), file.path)
    except UnicodeDecodeError:
        raise SuiteError(Problem("approvals must be UTF-8 text", location)) from None
    if document.value is None:
        return []
    diagnostics = Diagnostics()
    approvals = parse_approvals(document, diagnostics)
    if diagnostics.problems:
        raise SuiteError(*diagnostics.problems)
    return approvals
