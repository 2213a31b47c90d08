"""One scenario as a section of the page: why it fails, the checks of all trials side by side, how to repeat it."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from evalgate.reporting.html.cells import build_cell, split_marks
from evalgate.reporting.html.difference import build_difference
from evalgate.reporting.html.golden_view import build_golden
from evalgate.reporting.html.page_view import CellView, Fact, FigureRow, RowView, ScenarioView, TrialCheckRow, TrialView
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.scenario_sections import count_passed, describe_change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.models.results.results import AssertionDoc, ScenarioDoc, SuiteDoc, TrialDoc
    from evalgate.reporting.text.scenario_sections import SuiteScenario

    BlockNumbers = Mapping[tuple[str, int | None, int | None], int]

MAX_TRIALS, MAX_CHECKS, MAX_TEXT, MAX_EVIDENCE, MAX_NAME = 20, 200, 2_000, 4_000, 300
"""Trials side by side in one table, checks of a scenario, characters of a text, of evidence, and of a name."""
NO_BLOCK = "not in this file"


def build_row(number: int, item: SuiteScenario) -> RowView:
    """The scenario in the list of all."""
    scenario, kind = item.scenario, item.kind
    return RowView(
        number,
        clean_page_text(wording.scenario_name(scenario["id"], scenario["variant"]), MAX_NAME),
        build_cell(scenario["verdict"]),
        build_cell("" if kind == "unchanged" else kind),
        f"{count_passed(scenario)} of {scenario['n']}" if scenario["n"] else "0",
        is_failing=scenario["verdict"] != "PASS",
        is_changed=kind != "unchanged",
    )


def build_scenario_view(
    row: RowView,
    item: SuiteScenario,
    rulings: Sequence[Fact],
    blocks: BlockNumbers,
    command: str | None,
    *,
    has_traces: bool,
) -> ScenarioView:
    """The section of a scenario; `blocks` are the numbers of the conversations that the page has."""
    suite, scenario = item.suite, item.scenario
    trials = order_trials(scenario)
    checks = _build_checks(trials)
    left = len(scenario["trials"]) - len(trials)
    return ScenarioView(
        row,
        wording.score(scenario["score"]),
        list_reasons(scenario),
        [*_list_facts(suite, scenario), *rulings],
        build_golden(scenario),
        build_difference(scenario["change"]),
        [each for each in checks if any(cell.tone in ("bad", "warn") for cell in each.cells)],
        [each for each in checks if not any(cell.tone in ("bad", "warn") for cell in each.cells)],
        _build_figures(scenario, trials),
        [build_trial(trial, blocks, has_traces=has_traces) for trial in trials],
        f"{wording.pluralize(left, 'more trial')} not shown" if left > 0 else "",
        _list_commands(suite, scenario, command),
    )


def order_trials(scenario: ScenarioDoc) -> list[TrialDoc]:
    """The trials that the page shows: the one that was compared, then those that did not pass, each by number."""
    change = scenario["change"]
    compared = (change.get("behaviour") or change.get("calls")) if change else None
    number = compared["trial"] if compared else None
    trials = sorted(
        scenario["trials"], key=lambda each: (each["trial"] != number, each["status"] == "passed", each["trial"])
    )
    return trials[:MAX_TRIALS]


def list_reasons(scenario: ScenarioDoc) -> list[Sequence[str]]:
    """Why the scenario has its verdict, and what changed, as sentences in parts."""
    change = scenario["change"]
    texts = [scenario["reason"]] if scenario["reason"] else []
    texts += [describe_change(change)] if change and change["kind"] != "unchanged" else []
    if change and (cause := change.get("cause")):
        texts.append(cause["message"])
    texts += change["increases"] if change else []
    return [split_marks(text) for text in texts if text]


def _list_facts(suite: SuiteDoc, scenario: ScenarioDoc) -> list[Fact]:
    facts = [Fact("Suite", suite["suite"]), Fact("Defined in", wording.location(scenario["location"]))]
    return [Fact(label, clean_page_text(text, MAX_TEXT)) for label, text in facts if text]


def _build_checks(trials: Sequence[TrialDoc]) -> list[TrialCheckRow]:
    """A row per check, in the order of the suite; failed required ones first."""
    found: dict[tuple[str, str, int], dict[int, AssertionDoc]] = {}
    for column, trial in enumerate(trials):
        seen: dict[tuple[str, str], int] = {}
        for check in trial["assertions"]:
            key = check["name"], check["type"]
            seen[key] = repeat = seen.get(key, -1) + 1
            found.setdefault((*key, repeat), {})[column] = check
    rows = [(_row_key(cells), _build_check(cells, len(trials))) for cells in list(found.values())[:MAX_CHECKS]]
    rows.sort(key=lambda row: row[0])
    return [row for _, row in rows]


def _row_key(cells: Mapping[int, AssertionDoc]) -> tuple[bool, float]:
    lost = sum(check["weight"] * (1 - check["score"]) for check in cells.values() if check["outcome"] != "passed")
    return not any(check["required"] and check["outcome"] == "failed" for check in cells.values()), -lost


def _build_check(cells: Mapping[int, AssertionDoc], columns: int) -> TrialCheckRow:
    worst = min(cells.values(), key=lambda check: (check["outcome"] in ("passed", "skipped"), check["score"]))
    notes = ["required"] if worst["required"] else []
    notes += [f"weight {worst['weight']:g}"] if worst["weight"] != 1 else []
    is_repeated = worst["reason"] == worst["name"]
    evidence = worst["evidence"] if worst["outcome"] not in ("passed", "skipped") else None
    return TrialCheckRow(
        clean_page_text(worst["name"], MAX_TEXT),
        ", ".join(notes),
        [] if is_repeated else split_marks(worst["reason"]),
        clean_page_text(wording.location(worst["location"]), MAX_TEXT),
        clean_page_text(json.dumps(evidence, ensure_ascii=False, indent=1), MAX_EVIDENCE) if evidence else "",
        [_build_outcome(cells.get(column)) for column in range(columns)],
    )


def _build_outcome(check: AssertionDoc | None) -> CellView:
    if check is None:
        return CellView("\u2013", "plain")
    cell = build_cell(check["outcome"])
    is_partial = check["outcome"] == "failed" and 0 < check["score"] < 1
    return cell._replace(text=f"{cell.text} ({wording.score(check['score'])})") if is_partial else cell


_FIGURES: Sequence[tuple[str, str, Callable[[Any], str]]] = (
    ("Score", "score", wording.score),
    ("Cost", "cost_usd", wording.dollars),
    ("Latency", "latency_seconds", wording.seconds),
    ("Tokens", "total_tokens", wording.mean_count),
)


def _build_figures(scenario: ScenarioDoc, trials: Sequence[TrialDoc]) -> list[FigureRow]:
    """Score, cost, latency, tokens and calls of each trial, without those that no trial knows."""
    change = scenario["change"]
    behaviour = change.get("behaviour") if change else None
    baseline = {each["name"]: each["before"] for each in behaviour["figures"]} if behaviour else {}
    rows = []
    for name, key, describe in _FIGURES:
        values: list[float | None] = [trial[key] for trial in trials]  # type: ignore[literal-required]
        before = baseline.get(key)
        if any(value is not None for value in values):
            rows.append(FigureRow(name, "" if before is None else describe(before), list(map(describe, values))))
    return [*rows, FigureRow("Calls", "", [f"{len(each['tool_calls']):,}" for each in trials])]


def build_trial(trial: TrialDoc, blocks: BlockNumbers, *, has_traces: bool) -> TrialView:
    """A trial, and the number of its conversation in the page."""
    trace = trial["trace"]
    block = blocks.get((trace["path"], trace["line"], trace["record"]))
    number = trace["line"] if trace["line"] is not None else trace["record"]
    place = trace["path"] if number is None else f"{trace['path']}:{number}"
    return TrialView(
        trial["trial"],
        build_cell(trial["status"]),
        clean_page_text(place, MAX_TEXT),
        clean_page_text(trial["reason"] or "", MAX_TEXT),
        block,
        "" if block is not None else NO_BLOCK if has_traces else "no conversations in results.json",
    )


def _list_commands(suite: SuiteDoc, scenario: ScenarioDoc, command: str | None) -> list[Fact]:
    """Commands to paste, quoted for a shell; not for names that a page can't show as they are."""
    name = wording.scenario_name(scenario["id"], scenario["variant"])
    words = [shlex.quote(scenario["id"]), "--suite", shlex.quote(suite["suite"])]
    words += ["--variant", shlex.quote(scenario["variant"])] if scenario["variant"] else []
    which = " ".join(words)
    facts = [Fact("Repeat", f"{command or 'evalgate run'} --scenario {shlex.quote(name)}")]
    if scenario["verdict"] != "PASS":
        facts.append(Fact("Accept until a date", f"evalgate approve {which} --because REASON --until YYYY-MM-DD"))
    return [
        fact if clean_page_text(fact.text, MAX_TEXT) == fact.text else Fact(fact.label, NO_COMMAND) for fact in facts
    ]


NO_COMMAND = "no command: a name in it can't be shown as it is"
