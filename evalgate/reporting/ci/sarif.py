"""SARIF 2.1.0 for code scanning: a result per failed check, at its line in the suite file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from evalgate.models.run.run import HARD_FAILS
from evalgate.reporting.text.escaping import escape_sarif
from evalgate.reporting.text.scenario_sections import find_failed_checks, find_reason
from evalgate.reporting.text.wording import scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results.results import LocationDoc, ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.reporting.text.scenario_sections import FailedCheck

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_RESULTS = 5_000
"""Code scanning shows the first 5,000 results of a file and refuses more than 25,000."""
SCENARIO_RULE = "scenario"
SUPPRESSION = {"kind": "external", "status": "accepted", "justification": "quarantined: it does not block"}
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def render_sarif(document: ResultsDoc) -> bytes:
    """Renders every check that did not pass and every scenario that failed without one, in suite order.

    A result's fingerprint depends on the names of suite, scenario, variant and check, not on the line.
    Results over the limit are counted in a notification. The document's paths must start at the repository's root.
    """
    import orjson

    results = [result for suite in document["suites"] for result in _iter_results(suite)]
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


def _iter_results(suite: SuiteDoc) -> Iterator[dict[str, Any]]:
    for scenario in suite["scenarios"]:
        checks = find_failed_checks(scenario)
        for check in checks:
            yield _suppress_quarantined(scenario, _build_check_result(suite, scenario, check))
        if not checks and scenario["verdict"] != "PASS":
            level = "error" if scenario["verdict"] in HARD_FAILS else "warning"
            reason = find_reason(scenario)
            location = _build_location(suite, scenario, None)
            yield _suppress_quarantined(
                scenario, _build_result(SCENARIO_RULE, level, _list_names(suite, scenario), reason, location)
            )


def _suppress_quarantined(scenario: ScenarioDoc, result: dict[str, Any]) -> dict[str, Any]:
    """Turns the result of a quarantined scenario into a suppressed note."""
    if not scenario.get("quarantined"):
        return result
    return {**result, "level": "note", "suppressions": [SUPPRESSION]}


def _build_check_result(suite: SuiteDoc, scenario: ScenarioDoc, check: FailedCheck) -> dict[str, Any]:
    first = check.first
    names = [*_list_names(suite, scenario), first["name"]]
    times = f" (in {check.failed} of {check.trials} trials)" if check.trials > 1 else ""
    level = "error" if first["required"] else "warning"
    location = _build_location(suite, scenario, first["location"])
    return _build_result(first["type"], level, names, f"{first['reason']}{times}", location)


def _list_names(suite: SuiteDoc, scenario: ScenarioDoc) -> list[str]:
    return [suite["suite"], scenario["id"], scenario["variant"] or ""]


def _build_location(suite: SuiteDoc, scenario: ScenarioDoc, location: LocationDoc | None) -> dict[str, Any]:
    """Builds the location of the check, else of its scenario, else of its suite."""
    found = location or scenario["location"]
    physical: dict[str, Any] = {"artifactLocation": {"uri": _encode_uri(found["file"] if found else suite["path"])}}
    if found and found["line"]:
        column = {"startColumn": found["column"]} if found["column"] else {}
        physical["region"] = {"startLine": found["line"], **column}
    return {"physicalLocation": physical}


def _build_result(rule: str, level: str, names: list[str], reason: str, location: dict[str, Any]) -> dict[str, Any]:
    title = scope(*names)
    fingerprint = hashlib.sha256("\x00".join(names).encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": escape_sarif(rule),
        "level": level,
        "message": {"text": escape_sarif(f"{title}: {reason}" if reason else title)},
        "locations": [location],
        "partialFingerprints": {"evalgateCheck/v1": fingerprint},
    }


def _encode_uri(path: str) -> str:
    """Encodes a path as a relative reference: unreserved characters stay, other bytes become %XX."""
    return "".join(
        chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in path.encode("utf-8", "surrogatepass")
    )
