"""What suites would not notice, as a table for a terminal and as a JSON document."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, get_args

from evalgate.models.mutation import OperatorName, add_up
from evalgate.reporting.results.clean_values import clean_name, clean_optional_name
from evalgate.reporting.terminal.terminal_page import TerminalPage, format_columns
from evalgate.reporting.text.wording import percent, pluralize, scenario_name, scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.mutation import MutationReport, Survivor, Tally

SCHEMA = "evalgate.mutations/1"
MAX_LINES = 20
NAMES: tuple[OperatorName, ...] = get_args(OperatorName)
SENTENCES: dict[OperatorName, str] = {
    "drop_call": "`{tool}` were not called",
    "duplicate_call": "`{tool}` were called twice",
    "swap_calls": "`{other}` were called before `{tool}`",
    "change_argument": "`{other}` of `{tool}` had another value",
    "other_tool": "`{other}` were called instead of `{tool}`",
    "ignored_error": "`{tool}` failed and the agent went on",
    "empty_answer": "the answer were empty",
    "triple_cost": "the run cost three times as much",
    "triple_latency": "the run took three times as long",
    "refusal": "the agent refused",
    "truncated_run": "the run ended halfway",
    "extra_destructive_call": "`{tool}` were called as well",
}
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
    "extra_destructive_call": "a destructive call added",
}


CHECKS: dict[OperatorName, str] = {
    "drop_call": "{type: tool_called, tool: TOOL, required: true}",
    "duplicate_call": "{type: tool_calls, tool: TOOL, exactly: COUNT, required: true}",
    "swap_calls": "{type: tool_sequence, sequence: [TOOL, OTHER], required: true}",
    "change_argument": "{type: tool_sequence, sequence: [{tool: TOOL, args: {OTHER: VALUE}}], required: true}",
    "other_tool": "{type: tool_called, tool: TOOL, required: true}",
    "ignored_error": "{type: max_tool_errors, max: 0}",
    "empty_answer": "{type: not_empty, required: true}",
    "triple_cost": "{type: cost_limit, max_usd: N}",
    "triple_latency": "{type: latency_limit, max_seconds: N}",
    "refusal": "{not: {type: is_refusal}, required: true}",
    "truncated_run": "{type: output_contains, value: VALUE, required: true}",
    "extra_destructive_call": "{type: tool_calls, tool: TOOL, exactly: COUNT, required: true}",
}
"""An assertion for each change that would notice it."""


def render_mutation_report(report: MutationReport, width: int, *, colour: bool, every: bool) -> str:
    """The scores per operator and scenario, then what would not be noticed: `every` line, or the first of each part."""
    page = TerminalPage(width, colour=colour)
    for line in _list_in_scenarios(report.survivors) if every else _list_over_scenarios(report.survivors):
        page.add_text(line.lstrip(), indent=len(line) - len(line.lstrip()))
    total = report.total
    notes = [format_caught(total)]
    if report.possible > total.tried:
        notes.append(f"{report.possible:,} are possible: --max {report.possible} tries all")
    if report.changed < report.passing:
        notes.append(f"{report.changed:,} of {pluralize(report.passing, 'passing trace')} were changed")
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
    unused = [SHORT[name] for name, tally in report.operators.items() if not tally.tried]
    if unused:
        tables.insert(1, f"not tried, since no trace that passes has what they change: {', '.join(unused)}")
    parts = [*tables, *([str(page)] if report.survivors else []), *_describe_gate(report), "; ".join(notes)]
    return "\n\n".join(parts)


def format_caught(total: Tally) -> str:
    """How many changes are caught."""
    return f"catches {total.caught:,} of {pluralize(total.tried, 'small change')} ({percent(total.score)})"


def _describe_gate(report: MutationReport) -> list[str]:
    """What caught means, and how many of the caught changes `fail_on` lets through."""
    total = report.total
    words = sorted({", ".join(each) for each in report.fail_on})
    rules = "each suite's `fail_on` decides"
    if len(words) == 1:
        rules = f"`fail_on` is {words[0]}" if words[0] else "`fail_on` is not set: only hard_fail does"
    meaning = (
        f"caught: the scenario no longer passes; {total.gated:,} of these {total.caught:,} fail the gate ({rules})"
    )
    is_gated = total.gated == total.caught or any("below_threshold" in each for each in report.fail_on)
    return [meaning + ("" if is_gated else "; add below_threshold to `fail_on` for the others")]


def _list_in_scenarios(survivors: Sequence[Survivor]) -> Iterator[str]:
    scenario, order = None, {key: number for number, key in enumerate(dict.fromkeys(e.scenario for e in survivors))}
    for each in sorted(survivors, key=lambda each: (order[each.scenario], each.harm)):
        if each.scenario != scenario:
            scenario = each.scenario
            yield f"{scope(scenario.suite, scenario_name(scenario.id, scenario.variant))}: nothing would notice"
        yield f"  if {_complete(each)} ({each.count:,} of {each.tried:,}: {each.example})"


def _list_over_scenarios(survivors: Sequence[Survivor]) -> Iterator[str]:
    """The changes that nothing would notice, the most harmful first, each once; a step after those of one kind."""
    found: dict[str, list[Survivor]] = {}
    for each in survivors:
        found.setdefault(_complete(each), []).append(each)
    ranked = sorted(found.items(), key=lambda item: (min(each.harm for each in item[1]), -len(item[1])))
    yield "nothing would notice"
    for number, (sentence, members) in enumerate(ranked[:MAX_LINES]):
        first, more = members[0].scenario, len(members) - 1
        others = f" and {pluralize(more, 'more scenario')}" if more else ""
        yield f"  if {sentence} ({scenario_name(first.id, first.variant)}{others})"
        following = ranked[number + 1][1][0] if number + 1 < min(len(ranked), MAX_LINES) else None
        if following is None or following.operator != members[0].operator:
            yield f"    to notice it, add {suggest_check(members[0])}"
    if len(found) > MAX_LINES:
        yield f"  and {len(found) - MAX_LINES:,} more (-v prints all)"


def suggest_check(survivor: Survivor) -> str:
    """An assertion that would notice a change, as in a suite; VALUE and N are for the author."""
    operator = survivor.operator
    if operator == "extra_destructive_call" and not survivor.calls:
        operator_check = "{type: forbidden_tools, tools: [TOOL], required: true}"
    else:
        operator_check = CHECKS[operator]
    tool, other = (json.dumps(each, ensure_ascii=False) for each in (survivor.tool, survivor.other))
    values = {"TOOL": tool, "OTHER": other, "COUNT": str(survivor.calls)}
    return re.sub("TOOL|OTHER|COUNT", lambda found: values[found[0]], operator_check)


def describe_survivor(survivor: Survivor) -> str:
    """The change in words: what would not be noticed."""
    return f"nothing would notice if {_complete(survivor)}"


def _complete(survivor: Survivor) -> str:
    return SENTENCES[survivor.operator].format(tool=survivor.tool, other=survivor.other)


def _format_tally(tally: Tally) -> tuple[str, str, str]:
    return f"{tally.caught:,}", f"{tally.tried:,}", percent(tally.score)


def build_mutation_document(report: MutationReport) -> dict[str, Any]:
    """The document of `--json`, schema `evalgate.mutations/1`."""
    return {
        "schema": SCHEMA,
        **_build_tally(report.total),
        "possible": report.possible,
        "shown_by_other_traces": report.shown,
        "traces": {"read": report.traces, "passing": report.passing, "changed": report.changed},
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
        "survivors": [
            {
                **_build_key(each.scenario.suite, each.scenario.id, each.scenario.variant),
                "operator": each.operator,
                "description": clean_name(describe_survivor(each)),
                "survived": each.count,
                "tried": each.tried,
                "suggestion": clean_name(suggest_check(each)),
                "example": clean_name(each.example),
            }
            for each in sorted(report.survivors, key=lambda each: each.harm)
        ],
    }


def _build_key(suite: str, scenario: str, variant: str | None) -> dict[str, str | None]:
    return {"suite": clean_name(suite), "scenario": clean_name(scenario), "variant": clean_optional_name(variant)}


def _build_tally(tally: Tally) -> dict[str, float | int | None]:
    return {"tried": tally.tried, "caught": tally.caught, "gated": tally.gated, "score": tally.score}
