"""GitLab's Code Quality report: an entry per failed check, at its line in the suite file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from evalgate.reporting.ci.findings import list_findings
from evalgate.reporting.text.escaping import escape_code_quality

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc
    from evalgate.reporting.ci.findings import ReportFinding

MAX_ENTRIES = 5_000
"""GitLab shows a few hundred entries of a report."""
SEVERITIES = {"error": "critical", "warning": "minor"}
QUARANTINED = "info"


def render_code_quality(document: ResultsDoc) -> bytes:
    """Renders every check that did not pass and every scenario that failed without one, at most `MAX_ENTRIES`.

    A finding without a line is at line 1. Paths are the document's, which must start at the repository's root.
    """
    import orjson

    entries = [_build_entry(finding) for finding in list_findings(document)[:MAX_ENTRIES]]
    return orjson.dumps(entries, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _build_entry(finding: ReportFinding) -> dict[str, Any]:
    """Builds an entry. Of several with one fingerprint GitLab keeps the last; checks of two types may share a name."""
    fingerprint = hashlib.sha256(f"{finding.fingerprint} {finding.rule}".encode("utf-8", "surrogatepass"))
    return {
        "description": escape_code_quality(finding.message),
        "check_name": escape_code_quality(finding.rule),
        "fingerprint": fingerprint.hexdigest(),
        "severity": QUARANTINED if finding.is_quarantined else SEVERITIES[finding.level],
        "location": {"path": escape_code_quality(finding.file), "lines": {"begin": finding.line or 1}},
    }
