"""Writes an imported suite as YAML: each line with its origin, and what is not carried over where it was."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.text.flow_style import format_comment, format_value
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.features.importing.models import ImportedLine, ImportedScenario, ImportedSuite

REASON_LIMIT = 500
"""Characters of a comment: a reason is written whole."""
POLICY = {"fail_on": ["hard_fail", "below_threshold"]}
"""A test that fails, fails the gate, as it fails the origin's run."""


class WrittenSuite(NamedTuple):
    """The text of a suite, and what is on a line, by its number from 1: a check, or a field of a scenario."""

    text: str
    places: dict[int, ImportedLine | ImportedScenario]


def write_suite(suite: ImportedSuite, traces: Sequence[str]) -> WrittenSuite:
    """The suite as YAML."""
    lines: list[str] = []
    places: dict[int, ImportedLine | ImportedScenario] = {}
    for text, place in _list_rows(suite, traces):
        lines.append(text)
        if place is not None:
            places[len(lines)] = place
    return WrittenSuite("".join(f"{line}\n" for line in lines), places)


def _list_rows(
    suite: ImportedSuite, traces: Sequence[str]
) -> Iterator[tuple[str, ImportedLine | ImportedScenario | None]]:
    every = suite.list_lines()
    carried = sum(line.entry is not None for line in every)
    yield format_comment(f"Written by `evalgate import-suite` from {suite.path} ({suite.tool})."), None
    rest = len(every) - carried
    yield format_comment(f"{pluralize(carried, 'check')} carried over, {rest} not: each is named where it was."), None
    for note in suite.notes:
        yield format_comment(note), None
    for line in suite.others:
        yield _format_refusal(line, 0), None
    yield f"suite: {format_value(suite.name)}", None
    yield f"traces: {format_value(list(traces))}", None
    yield f"policy: {format_value(POLICY)}", None
    has_defaults = any(line.entry is not None for line in suite.defaults)
    if has_defaults:
        yield "defaults:", None
    yield from _list_checks(suite.defaults, 2 if has_defaults else -2)
    yield "scenarios:", None
    for scenario in suite.scenarios:
        yield from _list_scenario(scenario, has_defaults=has_defaults)


def _list_scenario(
    scenario: ImportedScenario, *, has_defaults: bool
) -> Iterator[tuple[str, ImportedLine | ImportedScenario | None]]:
    if not (scenario.is_carried or has_defaults):
        yield f"  {format_comment(f'{scenario.place}: {scenario.id}: none of its checks is carried over')}", None
        for line in scenario.lines:
            yield _format_refusal(line, 4), None
        return
    yield f"  - id: {format_value(scenario.id)}  {format_comment(scenario.place)}", scenario
    for note in scenario.notes:
        yield f"    {format_comment(note)}", None
    for name, value in scenario.fields.items():
        yield f"    {name}: {format_value(value)}", scenario
    yield from _list_checks(scenario.lines, 4)


def _list_checks(lines: Sequence[ImportedLine], indent: int) -> Iterator[tuple[str, ImportedLine | None]]:
    if any(line.entry is not None for line in lines):
        yield f"{' ' * indent}assertions:", None
    for line in lines:
        if line.entry is None:
            yield _format_refusal(line, indent + 2), None
            continue
        origin = f"{line.place} {line.kind}{f'; {line.reason}' if line.reason else ''}"
        yield f"{' ' * (indent + 2)}- {format_value(line.entry)}  {format_comment(origin, REASON_LIMIT)}", line


def _format_refusal(line: ImportedLine, indent: int) -> str:
    return f"{' ' * indent}{format_comment(describe_refusal(line), REASON_LIMIT)}"


def describe_refusal(line: ImportedLine) -> str:
    """Why a line is not carried over."""
    return f"not carried over: {line.place} {line.kind}: {line.reason}"


def describe_suite(suite: ImportedSuite, path: str) -> list[str]:
    """What was carried over, what judges otherwise, and what was not, a line each."""
    every = suite.list_lines()
    refused = [line for line in every if line.entry is None]
    differing = [line for line in every if line.entry is not None and line.reason]
    shares = any(line.entry is not None for line in suite.defaults)
    scenarios = sum(shares or scenario.is_carried for scenario in suite.scenarios)
    first = (
        f"{path}: {pluralize(len(every) - len(refused), 'check')} of {len(every)} carried over in"
        f" {pluralize(scenarios, 'scenario')} ({suite.tool})"
    )
    notes = [f"{scenario.place}: {note}" for scenario in suite.scenarios for note in scenario.notes]
    others = [*suite.notes, *notes, *(f"{line.place} {line.kind}: {line.reason}" for line in differing)]
    lines = [*(f"judges otherwise: {each}" for each in others), *map(describe_refusal, refused)]
    return [first, *(f"{each} ({count} times)" if count > 1 else each for each, count in Counter(lines).items())]
