"""SARIF 2.1.0 for code scanning: a result per failed check, at its line in the suite file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from evalgate.models.run.run import HARD_FAILS
from evalgate.reporting.ci.annotations import below
from evalgate.reporting.text.escaping import sarif_text
from evalgate.reporting.text.scenario_sections import failed_checks, first_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results.results import LocationDoc, ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.reporting.text.scenario_sections import FailedCheck

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 5_000
"""Code scanning shows the first 5,000 results of a file and refuses more than 25,000."""
SCENARIO_RULE = "scenario"
QUARANTINE = {"kind": "external", "status": "accepted", "justification": "in quarantine: it decides nothing"}
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def sarif(document: ResultsDoc, folder: str = "") -> bytes:
    """Renders every check that did not pass and every scenario that failed without one, in suite order.

    A result's fingerprint depends on the names of suite, scenario, variant and check, not on the line.
    Results over the limit are counted in a notification. `folder` is the folder that the document's paths
    are relative to, if it is not the repository's root.
    """
    import orjson

    found = [result for suite in document["suites"] for result in _results(suite)]
    for result in found if folder else ():
        artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
        artifact["uri"] = below(_uri(folder), artifact["uri"])
    shown, left = found[:MOST_RESULTS], len(found) - MOST_RESULTS
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "EvalGate",
                "semanticVersion": document["evalgate_version"],
                "rules": [_rule(name) for name in sorted({result["ruleId"] for result in shown})],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": shown,
    }
    if left > 0:
        message = {"text": f"{left} more results are in results.json"}
        notice = {"level": "warning", "message": message}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [notice]}]
    whole = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _rule(name: str) -> dict[str, Any]:
    said = "A scenario failed" if name == SCENARIO_RULE else f"A check of type {name} did not pass"
    return {"id": name, "shortDescription": {"text": said}}


def _results(suite: SuiteDoc) -> Iterator[dict[str, Any]]:
    for scenario in suite["scenarios"]:
        checks = failed_checks(scenario)
        for check in checks:
            yield _set_apart(scenario, _of_check(suite, scenario, check))
        if not checks and scenario["verdict"] != "PASS":
            level = "error" if scenario["verdict"] in HARD_FAILS else "warning"
            reason = first_reason(scenario)
            place = _place(suite, scenario, None)
            yield _set_apart(scenario, _result(SCENARIO_RULE, level, _named(suite, scenario), reason, place))


def _set_apart(scenario: ScenarioDoc, result: dict[str, Any]) -> dict[str, Any]:
    """Turns the result of a quarantined scenario into a suppressed note."""
    if not scenario.get("quarantined"):
        return result
    return {**result, "level": "note", "suppressions": [QUARANTINE]}


def _of_check(suite: SuiteDoc, scenario: ScenarioDoc, check: FailedCheck) -> dict[str, Any]:
    first = check.first
    named = [*_named(suite, scenario), first["name"]]
    times = f" (in {check.failed} of {check.trials} trials)" if check.trials > 1 else ""
    level = "error" if first["required"] else "warning"
    place = _place(suite, scenario, first["location"])
    return _result(first["type"], level, named, f"{first['reason']}{times}", place)


def _named(suite: SuiteDoc, scenario: ScenarioDoc) -> list[str]:
    return [suite["suite"], scenario["id"], scenario["variant"] or ""]


def _place(suite: SuiteDoc, scenario: ScenarioDoc, location: LocationDoc | None) -> dict[str, Any]:
    """Builds the location of the check, else of its scenario, else of its suite."""
    found = location or scenario["location"]
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(found["file"] if found else suite["path"])}}
    if found and found["line"]:
        column = {"startColumn": found["column"]} if found["column"] else {}
        physical["region"] = {"startLine": found["line"], **column}
    return {"physicalLocation": physical}


def _result(rule: str, level: str, named: list[str], reason: str, place: dict[str, Any]) -> dict[str, Any]:
    title = " / ".join(name for name in named if name)
    fingerprint = hashlib.sha256("\x00".join(named).encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": sarif_text(rule),
        "level": level,
        "message": {"text": sarif_text(f"{title}: {reason}" if reason else title)},
        "locations": [place],
        "partialFingerprints": {"evalgateCheck/v1": fingerprint},
    }


def _uri(path: str) -> str:
    """Encodes a path as a relative reference: unreserved characters stay, other bytes become %XX."""
    return "".join(
        chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in path.encode("utf-8", "surrogatepass")
    )
