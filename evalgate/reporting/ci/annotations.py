"""Annotations for the checks view: each failure at its line in the suite file."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalgate.models.github.checks import Annotation
from evalgate.reporting.text.scenario_sections import find_failed_checks, find_reason, is_bad, sort_scenarios
from evalgate.reporting.text.wording import join_words, pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import LocationDoc, ReasonDoc, ResultsDoc
    from evalgate.reporting.text.scenario_sections import SuiteScenario

MAX_PER_LEVEL = 100
"""Most annotations of one level; the runner shows ten, a check run takes fifty a request."""


def build_annotations(document: ResultsDoc, folder: str = "") -> list[Annotation]:
    """Builds errors for what blocks, warnings for other failures, notices in quarantine; worst first.

    Texts are not escaped: the code that prints an annotation does that. `folder` is the folder that the
    document's paths are relative to, if it is not the repository's root.
    """
    scenarios = sort_scenarios(document)
    blocks = document["verdict"] == "fail" and not document["report_only"]
    level = "error" if blocks else "warning"
    found = [*_annotate_run(document)]
    found += _limit_annotations(level, scenarios.failures)
    found += _limit_annotations("warning", [*scenarios.regressed, *scenarios.below])
    found += _limit_annotations("notice", list(filter(is_bad, scenarios.quarantined)))
    return [each._replace(file=each.file and join_folder(folder, each.file)) for each in found] if folder else found


def _limit_annotations(level: str, scenarios: Sequence[SuiteScenario]) -> Iterator[Annotation]:
    """Yields one annotation per scenario up to the limit, then one with the number of the others."""
    for item in scenarios[:MAX_PER_LEVEL]:
        yield _annotate_scenario(level, item)
    left = len(scenarios) - MAX_PER_LEVEL
    if left > 0:
        message = f"{pluralize(left, 'more scenario')} like these: see results.json"
        yield Annotation(level, "EvalGate", message)


def join_folder(folder: str, path: str) -> str:
    """Converts a path of the document to one relative to the repository's root."""
    return posixpath.normpath(posixpath.join(folder, path))


def _annotate_run(document: ResultsDoc) -> Iterator[Annotation]:
    level = "warning" if document["report_only"] and document["verdict"] != "invalid" else "error"
    for reason in document["reasons"][:MAX_PER_LEVEL]:
        if not reason.get("scenario") or reason["code"] == "weakened":  # no scenario's annotation has it
            location = reason.get("location") or _locate_suite(document, reason)
            yield _annotate(level, f"EvalGate: {_title(reason)}", reason["message"], location)


def _locate_suite(document: ResultsDoc, reason: ReasonDoc) -> LocationDoc | None:
    """Locates a suite without traces at its file; a check run shows no annotation without a place."""
    if reason["code"] != "no_traces":
        return None
    paths = [suite["path"] for suite in document["suites"] if suite["suite"] == reason.get("suite")]
    return {"file": paths[0], "line": 1, "column": None} if paths else None


def _title(reason: ReasonDoc) -> str:
    return reason["code"].replace("_", " ")


def _annotate_scenario(level: str, item: SuiteScenario) -> Annotation:
    scenario = item.scenario
    checks = find_failed_checks(scenario)
    location = checks[0].first["location"] if checks else None
    verdict = scenario["verdict"].replace("_", " ")
    change = [] if item.kind == "unchanged" else [item.kind]
    reason = find_reason(scenario) if scenario["verdict"] != "PASS" else ""
    if not reason and scenario["change"]:
        reason = scenario["change"]["reason"]
    variant = f" [{scenario['variant']}]" if scenario["variant"] else ""
    flags = ["quarantined"] if scenario.get("quarantined") else []
    title = f"{scenario['id']}{variant}: {join_words([verdict, *change, *flags])}"
    return _annotate(level, title, reason or title, location or scenario["location"])


def _annotate(level: str, title: str, message: str, location: LocationDoc | None) -> Annotation:
    if location is None:
        return Annotation(level, title, message)
    return Annotation(level, title, message, location["file"], location["line"], location["column"])
