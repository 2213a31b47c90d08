"""SARIF 2.1.0 for code scanning: a result per failed check, at its line in the suite file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.reporting.ci.findings import SCENARIO_RULE, list_findings
from evalgate.reporting.text.escaping import escape_sarif

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc
    from evalgate.reporting.ci.findings import ReportFinding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_RESULTS = 5_000
"""Code scanning shows the first 5,000 results of a file and refuses more than 25,000."""
SUPPRESSION = {"kind": "external", "status": "accepted", "justification": "quarantined: it does not block"}
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def render_sarif(document: ResultsDoc) -> bytes:
    """Renders every check that did not pass and every scenario that failed without one, in suite order.

    A result's fingerprint depends on the names of suite, scenario, variant and check, not on the line.
    Results over the limit are counted in a notification. The document's paths must start at the repository's root.
    """
    import orjson

    results = [_build_result(finding) for finding in list_findings(document)]
    shown, omitted = results[:MAX_RESULTS], len(results) - MAX_RESULTS
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "EvalGate",
                "semanticVersion": document["evalgate_version"],
                "rules": [_build_rule(name) for name in sorted({result["ruleId"] for result in shown})],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": shown,
    }
    if omitted > 0:
        message = {"text": f"{omitted} more results are in results.json"}
        notice = {"level": "warning", "message": message}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [notice]}]
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(log, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _build_rule(name: str) -> dict[str, Any]:
    description = "A scenario failed" if name == SCENARIO_RULE else f"A check of type {name} did not pass"
    return {"id": name, "shortDescription": {"text": description}}


def _build_result(finding: ReportFinding) -> dict[str, Any]:
    """Builds a result; one of a quarantined scenario is a suppressed note."""
    suppressed = {"level": "note", "suppressions": [SUPPRESSION]} if finding.is_quarantined else {}
    return {
        "ruleId": escape_sarif(finding.rule),
        "level": finding.level,
        "message": {"text": escape_sarif(finding.message)},
        "locations": [{"physicalLocation": _build_location(finding)}],
        "partialFingerprints": {"evalgateCheck/v1": finding.fingerprint},
        **suppressed,
    }


def _build_location(finding: ReportFinding) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _encode_uri(finding.file)}}
    if finding.line:
        column = {"startColumn": finding.column} if finding.column else {}
        physical["region"] = {"startLine": finding.line, **column}
    return physical


def _encode_uri(path: str) -> str:
    """Encodes a path as a relative reference: unreserved characters stay, other bytes become %XX."""
    return "".join(
        chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in path.encode("utf-8", "surrogatepass")
    )
