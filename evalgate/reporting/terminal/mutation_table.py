"""What suites would not notice, as a table for a terminal and as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from evalgate.models.mutation import OperatorName, Tally
from evalgate.reporting.results.clean_values import clean_name, clean_optional_name
from evalgate.reporting.terminal.terminal_page import TerminalPage, format_columns
from evalgate.reporting.text.wording import percent, pluralize, scenario_name, scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.mutation import MutationReport, Survivor

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


def render_mutation_report(report: MutationReport, width: int, *, colour: bool, every: bool) -> str:
    """The scores per operator and scenario, then what would not be noticed: `every` line, or the first of each part."""
    page = TerminalPage(width, colour=colour)
    for line in _list_in_scenarios(report.survivors) if every else _list_over_scenarios(report.survivors):
        page.add_text(line.lstrip(), indent=len(line) - len(line.lstrip()))
    total = report.total
    notes = [f"catches {total.caught:,} of {pluralize(total.tried, 'small change')} ({percent(total.score)})"]
    if report.possible > total.tried:
        notes.append(f"{report.possible:,} are possible: --max {report.possible} tries all")
    if report.changed < report.passing:
        notes.append(f"{report.changed:,} of {pluralize(report.passing, 'passing trace')} were changed")
    operators = [
        [str(NAMES.index(name) + 1), SHORT[name], *_format_tally(tally)]
        for name, tally in report.operators.items()
        if tally.tried
    ]
    scenarios = [
        [scenario_name(key.id, key.variant), key.suite, *_format_tally(_add_up(tallies.values()))]
        for key, tallies in sorted(report.scenarios.items(), key=lambda item: _add_up(item[1].values()).score or 0.0)
    ]
    hidden = 0 if every else len(scenarios) - MAX_LINES
    if hidden > 0:
        scenarios = [*scenarios[:MAX_LINES], [f"and {hidden:,} more", "", "", "", ""]]
    tables = [
        format_columns(("", "change", "caught", "of", "score"), operators, width),
        format_columns(("scenario", "suite", "caught", "of", "score"), scenarios, width),
    ]
    return "\n\n".join([*tables, *([str(page)] if report.survivors else []), "; ".join(notes)])


def _list_in_scenarios(survivors: Sequence[Survivor]) -> Iterator[str]:
    scenario = None
    for each in survivors:
        if each.scenario != scenario:
            scenario = each.scenario
            yield f"{scope(scenario.suite, scenario_name(scenario.id, scenario.variant))}: nothing would notice"
        yield f"  if {_complete(each)} ({each.count:,} of {each.tried:,}: {each.example})"


def _list_over_scenarios(survivors: Sequence[Survivor]) -> Iterator[str]:
    """The changes that most scenarios would not notice, each once."""
    found: dict[str, list[Survivor]] = {}
    for each in sorted(survivors, key=lambda each: NAMES.index(each.operator)):
        found.setdefault(_complete(each), []).append(each)
    yield "nothing would notice"
    for sentence, members in sorted(found.items(), key=lambda item: -len(item[1]))[:MAX_LINES]:
        first, more = members[0].scenario, len(members) - 1
        others = f" and {pluralize(more, 'more scenario')}" if more else ""
        yield f"  if {sentence} ({scenario_name(first.id, first.variant)}{others})"
    if len(found) > MAX_LINES:
        yield f"  and {len(found) - MAX_LINES:,} more (-v prints all)"


def describe_survivor(survivor: Survivor) -> str:
    """The change in words: what would not be noticed."""
    return f"nothing would notice if {_complete(survivor)}"


def _complete(survivor: Survivor) -> str:
    return SENTENCES[survivor.operator].format(tool=survivor.tool, other=survivor.other)


def _format_tally(tally: Tally) -> tuple[str, str, str]:
    return f"{tally.caught:,}", f"{tally.tried:,}", percent(tally.score)


def _add_up(tallies: Iterable[Tally]) -> Tally:
    listed: Sequence[Tally] = list(tallies)
    return Tally(sum(each.tried for each in listed), sum(each.caught for each in listed))


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
                **_build_tally(_add_up(tallies.values())),
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
                "example": clean_name(each.example),
            }
            for each in report.survivors
        ],
    }


def _build_key(suite: str, scenario: str, variant: str | None) -> dict[str, str | None]:
    return {"suite": clean_name(suite), "scenario": clean_name(scenario), "variant": clean_optional_name(variant)}


def _build_tally(tally: Tally) -> dict[str, float | int | None]:
    return {"tried": tally.tried, "caught": tally.caught, "score": tally.score}
