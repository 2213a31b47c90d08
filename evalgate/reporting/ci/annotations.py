"""Annotations for the checks view: each cause of failures at its line in the suite file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.github import Annotation
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.text.grouping import count_changes, describe_causes, group_failures
from evalgate.reporting.text.scenario_sections import is_bad, sort_scenarios
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.reporting.text.wording import join_words, pluralize, scenario_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import ReasonDoc, ResultsDoc, ScenarioDoc
    from evalgate.reporting.text.grouping import FailureGroup
    from evalgate.reporting.text.scenario_sections import ScenarioSections

MAX_PER_LEVEL = 800
"""Most annotations of one level; the runner shows ten, a check run a hundred, and in its text what fits."""
MAX_REASONS = 100
MAX_NAMES = 2_000
"""Most characters of names in a message."""


def build_annotations(document: ResultsDoc, scenarios: ScenarioSections | None = None) -> list[Annotation]:
    """Builds errors for what blocks, warnings for other failures, notices in quarantine; worst first.

    Texts are not escaped: the code that prints an annotation does that. The document's paths must start at the
    repository's root.
    """
    scenarios = scenarios or sort_scenarios(document)
    blocks = document["verdict"] == "fail" and not document["report_only"]
    failing = group_failures(scenarios.failures, [*scenarios.regressed, *scenarios.below, *scenarios.known])
    found = [*_annotate_run(document)]
    found += _limit_annotations("error" if blocks else "warning", [each for each in failing if not each.section])
    found += _limit_annotations("warning", [each for each in failing if each.section])
    found += _limit_annotations("notice", group_failures(list(filter(is_bad, scenarios.quarantined))))
    return found


def _limit_annotations(level: str, groups: Sequence[FailureGroup]) -> Iterator[Annotation]:
    """Yields one annotation per group up to the limit, then one with the number of the other scenarios."""
    for group in groups[:MAX_PER_LEVEL]:
        yield _annotate_group(level, group)
    left = sum(len(group.members) for group in groups[MAX_PER_LEVEL:])
    if left > 0:
        message = f"{pluralize(left, 'more scenario')} like these: see results.json"
        yield Annotation(level, "EvalGate", message)


def _annotate_run(document: ResultsDoc) -> Iterator[Annotation]:
    level = "warning" if document["report_only"] and document["verdict"] != "invalid" else "error"
    for reason in document["reasons"][:MAX_REASONS]:
        if not reason.get("scenario") or reason["code"] == "weakened":  # no scenario's annotation has it
            location = reason.get("location") or _locate_suite(document, reason)
            yield _annotate(level, f"EvalGate: {_title(reason)}", reason["message"], location)


def _locate_suite(document: ResultsDoc, reason: ReasonDoc) -> LocationDoc | None:
    """Locates a suite that lacks traces at its file; a check run shows no annotation without a place."""
    if reason["code"] not in {"no_traces", "empty_glob"}:
        return None
    paths = [suite["path"] for suite in document["suites"] if suite["suite"] == reason.get("suite")]
    return LocationDoc(paths[0], 1, None) if paths else None


def _title(reason: ReasonDoc) -> str:
    return reason["code"].replace("_", " ")


def _annotate_group(level: str, group: FailureGroup) -> Annotation:
    """Annotates the line of the check that failed first; the scenarios are named if there are several."""
    scenarios = [member.scenario for member in group.members]
    first, kinds = scenarios[0], count_changes(group, lambda member: member.shown_kind)
    location = next((each.first.location for each in group.causes), None)
    words = [
        *dict.fromkeys(each["verdict"].replace("_", " ") for each in scenarios),
        *([kinds] if kinds else []),
        *(["quarantined"] if first.get("quarantined") else []),
    ]
    name = _name(first) if len(scenarios) == 1 else pluralize(len(scenarios), "scenario")
    title = f"{name}: {join_words(words)}{', for lack of evidence' if group.is_lost and group.missing else ''}"
    change = first["change"]
    cause = unmark_parts(next(iter(describe_causes(group)), ""))
    message = cause or (change["reason"] if change else title)
    if len(scenarios) > 1:
        message = f"{message}, in {_list_names(scenarios)}"
    return _annotate(level, title, message, location or first["location"])


def _list_names(scenarios: Sequence[ScenarioDoc]) -> str:
    """Lists names up to a length, and the number of the others."""
    shown: list[str] = []
    length = 0
    for scenario in scenarios:
        length += len(_name(scenario)) + 2
        if length > MAX_NAMES:
            return f"{', '.join(shown)} and {len(scenarios) - len(shown):,} more"
        shown.append(_name(scenario))
    return ", ".join(shown)


def _name(scenario: ScenarioDoc) -> str:
    return scenario_name(scenario["id"], scenario["variant"])


def _annotate(level: str, title: str, message: str, location: LocationDoc | None) -> Annotation:
    if location is None:
        return Annotation(level, title, message)
    return Annotation(level, title, message, location.file, location.line, location.column)
