"""Rows of the comment about two arms: the answer, its figures, the scenarios that differ, and those recorded again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.markdown.view import ArmRow, ArmSection, ConfirmedRow, Rows
from evalgate.reporting.text.arm_lines import (
    answer,
    describe_calls,
    describe_finding,
    describe_result,
    find_differences,
    name_scenario,
    summarize,
)
from evalgate.reporting.text.escaping import escape_cell, escape_id, escape_pipes
from evalgate.reporting.text.sentences import escape_sentence, escape_sentence_cell
from evalgate.reporting.text.wording import scenario_name

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.arms import ArmComparison, ConfirmedScenario, PairedScenario

MOST_ROWS, MOST_ACTS = 20, 600


def build_arm_section(found: ArmComparison, *, many: bool) -> ArmSection:
    """The section of one comparison; `many`: there are several suites."""
    rows = tuple(_build_row(each) for each in found.scenarios[:MOST_ROWS])
    return ArmSection(
        suite=escape_id(found.suite) if many else "",
        control=escape_id(found.control),
        treatment=escape_id(found.treatment),
        answer=answer(found, escape_id),
        summary=_begin_sentence(f"{summarize(found)}."),
        differences=tuple(escape_sentence(each) for each in found.differences),
        rows=Rows(rows, found.broken + found.repaired + found.undecided + found.not_comparable),
    )


def _begin_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _build_row(scenario: PairedScenario) -> ArmRow:
    return ArmRow(
        name=escape_cell(name_scenario(scenario)),
        result=describe_result(scenario),
        reason=escape_sentence_cell(scenario.reason),
        calls=escape_pipes(describe_calls(scenario, escape_id)),
    )


def build_confirmed_row(scenario: ConfirmedScenario, *, document: ResultsDoc, many: bool) -> ConfirmedRow:
    """The row of a scenario; `many`: there are several suites."""
    name, meaning = scenario_name(scenario.id, scenario.variant), describe_finding(scenario)
    acts = "; ".join(find_differences(document, scenario))
    return ConfirmedRow(
        name=escape_cell(f"{scenario.suite} / {name}" if many else name),
        finding=escape_sentence_cell(": ".join(filter(None, [scenario.finding.replace("_", " "), meaning]))),
        base=scenario.base.describe(),
        head=scenario.head.describe(),
        acts=escape_sentence(acts, MOST_ACTS) if acts else "",
    )
