"""What suites would not notice, as a table for a terminal and as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from evalgate.features.learn.reporting.mutation_survivors import (
    add_all_survivors,
    add_main_survivors,
    describe_survivor,
    format_survivor_check,
    list_suggestions,
)
from evalgate.models.mutation import Effect, OperatorName, add_up
from evalgate.reporting.results.clean_values import clean_name, clean_optional_name
from evalgate.reporting.terminal.terminal_page import TerminalPage, format_columns
from evalgate.reporting.text.wording import percent, pluralize, scenario_name

if TYPE_CHECKING:
    from evalgate.models.mutation import MutationReport, Survivor, Tally

SCHEMA = "evalgate.mutations/1"
MAX_LINES = 20
NAMES: tuple[OperatorName, ...] = get_args(OperatorName)
SHORT: dict[OperatorName, str] = {
    "drop_call": "a call dropped",
    "duplicate_call": "a call made twice",
    "swap_calls": "two calls swapped",
    "change_argument": "an argument changed",
    "other_tool": "another tool called",
    "ignored_error": "an error ignored",
    "empty_answer": "the answer empty",
    "triple_cost": "cost x3",
    "triple_latency": "latency x3",
    "refusal": "a refusal",
    "truncated_run": "the run cut in half",
    "extra_destructive_call": "a call added that changes something",
    "invented_argument": "an id or amount invented",
    "steered_recipient": "a recipient from a result",
    "second_record": "a second record changed",
    "failed_run": "the run ended in an error",
    "other_skill": "another skill used",
    "known_argument": "another known value",
}
EFFECTS: dict[Effect, str] = {
    "lower_score": "only lower the score, which stays above the threshold of the scenario",
    "allowed": "pass the gate: `fail_on` or the pass rate of their scenario allows one such trace",
    "below_threshold": "pass the gate, and would fail it with below_threshold in `fail_on`",
    "already_failing": "are in scenarios that fail the gate already, as recorded",
}
"""What else becomes of changes that are caught."""


def render_mutation_report(report: MutationReport, width: int, *, colour: bool, every: bool) -> str:
    """The scores per operator and scenario, then what would not be noticed: `every` line, or the first of each part."""
    operators = [[SHORT[name], *_format_tally(tally)] for name, tally in report.operators.items() if tally.tried]
    scenarios = [
        [scenario_name(key.id, key.variant), key.suite, *_format_tally(add_up(tallies.values()))]
        for key, tallies in sorted(report.scenarios.items(), key=lambda item: add_up(item[1].values()).score or 0.0)
    ]
    hidden = 0 if every else len(scenarios) - MAX_LINES
    if hidden > 0:
        scenarios = [*scenarios[:MAX_LINES], [f"and {hidden:,} more", "", "", "", ""]]
    tables = [
        format_columns(("change", "caught", "of", "score"), operators, width),
        format_columns(("scenario", "suite", "caught", "of", "score"), scenarios, width),
    ]
    tables[1:1] = _list_unused(report)
    parts = [*tables, *_render_survivors(report, width, colour=colour, every=every), _render_gate(report, width)]
    return "\n\n".join([*filter(None, parts), "; ".join(_list_notes(report))])


def _list_unused(report: MutationReport) -> list[str]:
    """The kinds of changes of which none was tried."""
    unused = ", ".join(SHORT[name] for name, tally in report.operators.items() if not tally.tried)
    if not unused:
        return []
    is_complete = report.possible == report.total.tried
    why = ", since no trace that passes has what they change, or another one shows the same" if is_complete else ""
    return [f"not tried{why}: {unused}"]


def _render_survivors(report: MutationReport, width: int, *, colour: bool, every: bool) -> list[str]:
    if not report.survivors:
        return []
    page = TerminalPage(width, colour=colour)
    (add_all_survivors if every else add_main_survivors)(page, report.survivors)
    if report.untried:
        page.add_text(f"the checks were not tried on {pluralize(report.untried, 'more trace')}", indent=0)
    return [str(page)]


def _render_gate(report: MutationReport, width: int) -> str:
    page = TerminalPage(width, colour=False)
    for number, line in enumerate(_describe_gate(report)):
        page.add_text(line, indent=2 if number else 0)
    return str(page)


def _list_notes(report: MutationReport) -> list[str]:
    """The score, and what was left out."""
    total = report.total
    notes = [format_caught(total)]
    if report.possible > total.tried:
        notes.append(f"{report.possible:,} are possible: --max {report.possible} tries all")
    if report.changed < report.passing:
        notes.append(f"{report.changed:,} of {pluralize(report.passing, 'passing trace')} were changed")
    if report.recorded_failures:
        left_out = pluralize(report.recorded_failures, "trace")
        verb = "passes the suite but is" if report.recorded_failures == 1 else "pass the suite but are"
        notes.append(f"{left_out} left out: {verb} recorded as failed")
    return notes


def format_caught(total: Tally) -> str:
    """How many changes are caught."""
    return f"catches {total.caught:,} of {pluralize(total.tried, 'small change')} ({percent(total.score)})"


def _describe_gate(report: MutationReport) -> list[str]:
    """What caught means, and what the gate does about the caught changes: a sentence, and a line for each part."""
    words = sorted({", ".join(each) for each in report.fail_on})
    rules = "each suite's `fail_on` decides"
    if len(words) == 1:
        rules = f"`fail_on` is {words[0]}" if words[0] else "`fail_on` is not set: only hard_fail does"
    caught = report.total.caught
    if not caught:
        return []
    counts = [(report.effects.get(effect, 0), sentence) for effect, sentence in EFFECTS.items()]
    lines = [f"{number:,} {sentence}" for number, sentence in counts if number]
    condition = "If one trace changes so, all others stay as recorded and the baseline has these traces"
    return [
        f"caught: a check fails. {condition}, then of {caught:,}",
        f"{report.total.gated:,} fail the gate ({rules})",
        *lines,
    ]


def _format_tally(tally: Tally) -> tuple[str, str, str]:
    return f"{tally.caught:,}", f"{tally.tried:,}", percent(tally.score)


def build_mutation_document(report: MutationReport) -> dict[str, Any]:
    """The document of `--json`, schema `evalgate.mutations/1`."""
    return {
        "schema": SCHEMA,
        **_build_tally(report.total),
        "possible": report.possible,
        "shown_by_other_traces": report.shown,
        "effects": report.effects,
        "traces": {
            "read": report.traces,
            "passing": report.passing,
            "recorded_failures": report.recorded_failures,
            "changed": report.changed,
        },
        "operators": [
            {"number": NAMES.index(name) + 1, "name": name, **_build_tally(tally)}
            for name, tally in report.operators.items()
        ],
        "scenarios": [
            {
                **_build_key(key.suite, key.id, key.variant),
                **_build_tally(add_up(tallies.values())),
                "operators": {name: _build_tally(tally) for name, tally in tallies.items()},
            }
            for key, tallies in report.scenarios.items()
        ],
        "survivors": [_build_survivor(each) for each in sorted(report.survivors, key=lambda each: each.harm)],
        "suggestions": [
            {
                "suite": clean_name(members[0].scenario.suite),
                "scenario": clean_name(members[0].entry),
                "suggestion": check,
                "noticed": sum(each.noticed for each in members),
                "survived": sum(each.count for each in members),
            }
            for check, members in list_suggestions(report.survivors)
        ],
    }


def _build_survivor(survivor: Survivor) -> dict[str, Any]:
    key = survivor.scenario
    return {
        **_build_key(key.suite, key.id, key.variant),
        "operator": survivor.operator,
        "description": clean_name(describe_survivor(survivor)),
        "survived": survivor.count,
        "tried": survivor.tried,
        "suggestion": format_survivor_check(survivor),
        "noticed": survivor.noticed,
        "example": clean_name(survivor.example),
    }


def _build_key(suite: str, scenario: str, variant: str | None) -> dict[str, str | None]:
    return {"suite": clean_name(suite), "scenario": clean_name(scenario), "variant": clean_optional_name(variant)}


def _build_tally(tally: Tally) -> dict[str, float | int | None]:
    return {"tried": tally.tried, "caught": tally.caught, "gated": tally.gated, "score": tally.score}
