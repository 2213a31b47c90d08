"""Comparisons of two arms for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.text.plain_text import mark_unseen
from evalgate.models.run.arms import BROKEN, REPAIRED
from evalgate.reporting.text.arm_lines import answer, describe_calls, describe_result, name_scenario, summarize
from evalgate.reporting.text.escaping import escape_terminal, shorten_id
from evalgate.reporting.text.sentences import unmark_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.run.arms import ArmComparison, PairedScenario

MAX_NAME = 60


def render_arms(found: Sequence[ArmComparison], max_rows: int) -> Iterator[str]:
    """Renders each comparison as lines of their own length: names, answer, figures, then at most `max_rows` scenarios.

    Scenarios that may be chance, or are not comparable, come last.
    """
    for each in found:
        where = f" in {_name(each.suite)}" if len({other.suite for other in found}) > 1 else ""
        yield escape_terminal(f"{_name(each.control)} -> {_name(each.treatment)}{where}", None)
        yield escape_terminal(f"  {answer(each, _name)}", None)
        yield escape_terminal(f"  {summarize(each)}", None)
        if each.differences:
            yield escape_terminal(f"  they differ in {', '.join(each.differences)}", None)
        for scenario in each.scenarios[:max_rows]:
            yield from _render_scenario(scenario)
        left = each.broken + each.repaired + each.undecided + each.not_comparable - min(len(each.scenarios), max_rows)
        if left > 0:
            yield f"  ... and {left:,} more"
        yield ""


def _render_scenario(scenario: PairedScenario) -> Iterator[str]:
    sign = {BROKEN: "-", REPAIRED: "+"}.get(scenario.kind, "?")
    what = f"{describe_result(scenario)}, {unmark_parts(scenario.reason)}"
    yield escape_terminal(f"  {sign} {_name(name_scenario(scenario))}: {what}", None)
    if calls := describe_calls(scenario, _name):
        yield escape_terminal(f"      {calls}", None)


def _name(text: str) -> str:
    return shorten_id(mark_unseen(text), MAX_NAME)
