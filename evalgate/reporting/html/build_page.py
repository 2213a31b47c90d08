"""A results document and the traces of its run as the view of one page: what broke first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.html.page_view import CellView, Fact, PageView
from evalgate.reporting.html.scenario_view import TONES, build_cell, build_scenario_view, split_marks
from evalgate.reporting.markdown.heading import build_heading
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.scenario_sections import SuiteScenario, sort_scenarios

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc, TraceDoc

MAX_TEXT, MAX_WARNINGS, SHORT_SHA = 2_000, 50, 7
TracePlace = tuple[str, int | None, int | None]
VERDICTS = {"pass": "passed", "fail": "failed", "cannot_judge": "could not judge", "invalid": "invalid input"}


def order_scenarios(document: ResultsDoc) -> list[SuiteScenario]:
    """All scenarios of the run, worst first; those of a suite without traces come last."""
    sections = sort_scenarios(document)
    changed = [each for each in sections.other_changes if isinstance(each, SuiteScenario)]
    ordered = [
        *sections.failures,
        *sections.regressed,
        *sections.below,
        *sections.quarantined,
        *changed,
        *sections.passing,
    ]
    listed = {id(item.scenario) for item in ordered}
    every = (SuiteScenario(suite, each) for suite in document["suites"] for each in suite["scenarios"])
    return [*ordered, *(item for item in every if id(item.scenario) not in listed)]


def place_of(trace: TraceDoc) -> TracePlace:
    """Where a trace was read, which identifies it in a run."""
    return trace["path"], trace["line"], trace["record"]


def build_page(document: ResultsDoc, blocks: Sequence[tuple[TracePlace, str]], *, has_traces: bool) -> PageView:
    """The page of a finished run; `blocks` are the conversations it holds, from `encode_trace_block`, in their order.

    Without `has_traces` the page says that the run's traces were not there, and not that some are left out.
    """
    heading = build_heading(document, lambda text: clean_page_text(text, MAX_TEXT))
    numbers = {place: number for number, (place, _) in enumerate(blocks)}
    command = document.get("command")
    scenarios = [
        build_scenario_view(number, item, numbers, command, has_traces=has_traces)
        for number, item in enumerate(order_scenarios(document))
    ]
    return PageView(
        f"EvalGate {VERDICTS[document['verdict']]}",
        CellView(VERDICTS[document["verdict"]], TONES.get(document["verdict"], "plain")),
        clean_page_text(heading.text, MAX_TEXT),
        [split_marks(each["message"]) for each in document["reasons"] if not each.get("scenario")][:MAX_WARNINGS],
        _list_facts(document),
        _describe_conversations(document, len(blocks), has_traces=has_traces),
        scenarios,
        [
            Fact(clean_page_text(wording.scenario_name(each["id"], each["variant"])), build_cell(each["verdict"]).text)
            for each in document["removed"]
        ],
        _list_warnings(document),
        sorted({scenario.suite for scenario in scenarios}),
        _list_commands(document),
        clean_page_text(document["evalgate_version"]),
        [(number, block) for number, (_, block) in enumerate(blocks)],
    )


def _list_facts(document: ResultsDoc) -> list[Fact]:
    baseline, summary = document["baseline"], document["summary"]
    facts = [Fact("Commit", (document["commit"] or "")[:SHORT_SHA]), Fact("Judged", document["created_at"])]
    if baseline is None:
        facts.append(Fact("Baseline", "none: changes are not known"))
    else:
        name = baseline["sha"][:SHORT_SHA] if baseline["sha"] else baseline["path"] or "none"
        age = "" if baseline["age_seconds"] is None else f", {wording.age(baseline['age_seconds'])}"
        facts.append(Fact("Baseline", f"{name} ({baseline['status']}{age})"))
    if summary is not None:
        facts.append(Fact("Scenarios", f"{summary['passed']:,} of {summary['scenarios']:,} passed"))
        if summary["not_evaluable"]:
            facts.append(Fact("Not evaluable", f"{summary['not_evaluable']:,}"))
        facts.append(Fact("Cost", wording.cost(summary)))
        facts.append(Fact("Tokens", wording.count(summary["total_tokens"])))
    return [Fact(label, clean_page_text(text, MAX_TEXT)) for label, text in facts if text]


def _describe_conversations(document: ResultsDoc, held: int, *, has_traces: bool) -> str:
    trials = sum(len(scenario["trials"]) for suite in document["suites"] for scenario in suite["scenarios"])
    if not has_traces:
        return "This file holds no conversations: only results.json was read."
    left = f" {trials - held:,} of {trials:,} are left out." if trials > held else ""
    return (
        f"This file holds {wording.pluralize(held, 'recorded conversation')}."
        f" Secrets are redacted; review it before you publish it.{left}"
    )


def _list_warnings(document: ResultsDoc) -> list[Fact]:
    texts = [(each["code"], each["message"]) for each in document["warnings"]]
    texts += [("weakened", each["message"]) for each in document.get("weakenings", [])]
    facts = [Fact(clean_page_text(code), clean_page_text(text, MAX_TEXT)) for code, text in texts[:MAX_WARNINGS]]
    left = len(texts) - len(facts)
    return [*facts, *([Fact("more", f"{wording.pluralize(left, 'more warning')} in results.json")] if left else [])]


def _list_commands(document: ResultsDoc) -> list[Fact]:
    commands = [("Fetch the baseline", document.get("fetch_command")), ("Repeat the run", document.get("command"))]
    return [Fact(label, clean_page_text(text, MAX_TEXT)) for label, text in commands if text]
