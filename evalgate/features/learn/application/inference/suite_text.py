"""Writes an inferred suite as YAML, line by line with comments; all untrusted text is escaped by `format_value`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.redaction.redact import redact
from evalgate.reporting.text.flow_style import format_comment, format_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.features.learn.application.inference.checks import InferredCheck

MAX_SHOWN = 8
"""Names in a list."""


def format_check(check: InferredCheck, indent: int) -> str:
    """The line of a check, an item of a list with its reason."""
    keys = list(check.entry)
    # A single key needs no braces.
    text = f"{keys[0]}: {format_value(check.entry[keys[0]])}" if len(keys) == 1 else format_value(check.entry)
    return f"{' ' * indent}- {text}{_format_reason(check.reason)}"


def _format_reason(reason: str) -> str:
    return f"  {format_comment(reason)}" if reason else ""


def list_briefly(ids: Sequence[str]) -> str:
    """The first ids, and how many more there are; a secret is redacted.

    >>> list_briefly([str(number) for number in range(12)])
    '0, 1, 2, 3, 4, 5, 6, 7 and 4 more'
    """
    more = f" and {len(ids) - MAX_SHOWN:,} more" if len(ids) > MAX_SHOWN else ""
    return ", ".join(map(redact, ids[:MAX_SHOWN])) + more


class FieldText(NamedTuple):
    """A field of a scenario, written on a line with its reason."""

    name: str
    value: Any
    reason: str = ""


class ScenarioText(NamedTuple):
    """How a scenario is written: `fields` before its assertions, `offers` and `notes` as comments after them.

    An offer is an assertion: without its `# ` it is one.
    """

    id: str
    reason: str
    fields: Sequence[FieldText]
    checks: Sequence[InferredCheck]
    notes: Sequence[str] = ()
    offers: Sequence[str] = ()


def format_scenario(scenario: ScenarioText, indent: int) -> tuple[list[str], dict[int, int]]:
    """The lines of a scenario, an item of a list, and the number of the check on a line, from 0."""
    inner = " " * (indent + 2)
    lines = [f"{' ' * indent}- id: {format_value(scenario.id)}{_format_reason(scenario.reason)}"]
    lines += [f"{inner}{name}: {format_value(value)}{_format_reason(why)}" for name, value, why in scenario.fields]
    checks = scenario.checks
    places: dict[int, int] = {}
    if len(checks) == 1 and not checks[0].reason and not scenario.offers:
        places[len(lines)] = 0
        lines.append(f"{inner}assertions: [{format_value(checks[0].entry)}]")
    elif checks:
        lines.append(f"{inner}assertions:")
        places = {len(lines) + number: number for number in range(len(checks))}
        lines += [format_check(check, indent + 4) for check in checks]
    lines += [f"{inner}  {format_comment(offer)}" for offer in scenario.offers]
    return [*lines, *(f"{inner}{format_comment(note)}" for note in scenario.notes)], places
