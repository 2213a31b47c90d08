"""Annotations for the checks view: each failure at its line in the suite file."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalgate.models.github.annotation import Annotation
from evalgate.reporting.text.scenario_sections import failed_checks, first_reason, is_bad, sort_scenarios
from evalgate.reporting.text.wording import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import LocationDoc, ReasonDoc, ResultsDoc
    from evalgate.reporting.text.scenario_sections import Placed

MAX_OF_A_LEVEL = 100
"""Most annotations of one level; the runner shows ten, a check run takes fifty a request."""


def annotations_of(document: ResultsDoc, folder: str = "") -> list[Annotation]:
    """Builds errors for what blocks, warnings for other failures, notices in quarantine; worst first.

    Texts are not escaped: the code that prints an annotation does that. `folder` is the folder that the
    document's paths are relative to, if it is not the repository's root.
    """
    scenarios = sort_scenarios(document)
    blocks = document["verdict"] == "fail" and not document["report_only"]
    level = "error" if blocks else "warning"
    found = [*_of_run(document)]
    found += _bounded(level, scenarios.failures)
    found += _bounded("warning", [*scenarios.regressed, *scenarios.below])
    found += _bounded("notice", list(filter(is_bad, scenarios.quarantined)))
    return [each._replace(file=each.file and below(folder, each.file)) for each in found] if folder else found


def _bounded(level: str, scenarios: Sequence[Placed]) -> Iterator[Annotation]:
    """Yields one annotation per scenario up to the limit, then one with the number of the others."""
    for placed in scenarios[:MAX_OF_A_LEVEL]:
        yield _annotation(level, placed)
    left = len(scenarios) - MAX_OF_A_LEVEL
    if left > 0:
        told = f"{counted(left, 'more scenario')} like these: see results.json"
        yield Annotation(level, "EvalGate", told)


def below(folder: str, path: str) -> str:
    """Converts a path of the document to one relative to the repository's root."""
    return posixpath.normpath(posixpath.join(folder, path))


def _of_run(document: ResultsDoc) -> Iterator[Annotation]:
    level = "warning" if document["report_only"] and document["verdict"] != "invalid" else "error"
    for reason in document["reasons"][:MAX_OF_A_LEVEL]:
        if not reason.get("scenario") or reason["code"] == "weakened":  # no scenario's annotation has it
            yield _placed(level, f"EvalGate: {_title(reason)}", reason["message"], reason.get("location"))


def _title(reason: ReasonDoc) -> str:
    return reason["code"].replace("_", " ")


def _annotation(level: str, placed: Placed) -> Annotation:
    scenario = placed.scenario
    checks = failed_checks(scenario)
    location = checks[0].first["location"] if checks else None
    verdict = scenario["verdict"].replace("_", " ")
    broke = [] if placed.kind == "unchanged" else [placed.kind]
    said = first_reason(scenario) if scenario["verdict"] != "PASS" else ""
    if not said and scenario["change"]:
        said = scenario["change"]["reason"]
    variant = f" [{scenario['variant']}]" if scenario["variant"] else ""
    apart = ["quarantined"] if scenario.get("quarantined") else []
    title = f"{scenario['id']}{variant}: {listed([verdict, *broke, *apart])}"
    return _placed(level, title, said or title, location or scenario["location"])


def _placed(level: str, title: str, message: str, location: LocationDoc | None) -> Annotation:
    if location is None:
        return Annotation(level, title, message)
    return Annotation(level, title, message, location["file"], location["line"], location["column"])
