"""Lines for the checks view: each failure at its place in the suite file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.annotation import Annotation
from evalgate.reporting.scenarios import failed_checks, first_reason, sort_scenarios
from evalgate.reporting.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results import LocationDoc, ReasonDoc, ResultsDoc
    from evalgate.reporting.scenarios import Placed

MAX_OF_A_LEVEL = 100
"""Annotations made of a level; the runner shows ten, a check run fifty a request."""


def annotations_of(document: ResultsDoc) -> list[Annotation]:
    """Errors for what gates, warnings for what failed besides, most severe first.

    Texts are as the document has them: whoever prints an annotation escapes it.
    """
    scenarios = sort_scenarios(document)
    blocks = document["verdict"] == "fail" and not document["report_only"]
    level = "error" if blocks else "warning"
    found = [*_of_run(document)]
    found += [_annotation(level, placed) for placed in scenarios.failures[:MAX_OF_A_LEVEL]]
    softer = [*scenarios.regressed, *scenarios.below]
    found += [_annotation("warning", placed) for placed in softer[:MAX_OF_A_LEVEL]]
    return found


def _of_run(document: ResultsDoc) -> Iterator[Annotation]:
    level = "warning" if document["report_only"] and document["verdict"] != "invalid" else "error"
    for reason in document["reasons"][:MAX_OF_A_LEVEL]:
        if not reason.get("scenario"):
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
    title = f"{scenario['id']}: {listed([verdict, *broke])}"
    return _placed(level, title, said or title, location or scenario["location"])


def _placed(level: str, title: str, message: str, location: LocationDoc | None) -> Annotation:
    if location is None:
        return Annotation(level, title, message)
    return Annotation(level, title, message, location["file"], location["line"], location["column"])
