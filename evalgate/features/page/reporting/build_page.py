"""A results document and the traces of its run as the view of one page: what broke first."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from evalgate.features.page.reporting.cells import build_cell, split_marks
from evalgate.features.page.reporting.history_view import build_history, list_approvals
from evalgate.features.page.reporting.page_view import CellView, ChoiceView, Fact, PageView, PromptView
from evalgate.features.page.reporting.scenario_order import GROUPS, count_changes, list_groups
from evalgate.features.page.reporting.scenario_view import MAX_NAME
from evalgate.measures.text.plain_text import mark_part
from evalgate.reporting.markdown.header_lines import describe_agent_changes, describe_noise
from evalgate.reporting.markdown.heading import build_heading, describe_other_recordings
from evalgate.reporting.text import wording
from evalgate.reporting.text.behaviour_lines import describe_unasked, list_prompt_diffs
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.ruling_lines import list_weakenings, summarize_weakening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import BaselineDoc, ResultsDoc, SummaryDoc
    from evalgate.models.run.trial_doc import TraceDoc
    from evalgate.reporting.text.scenario_sections import SuiteScenario

MAX_TEXT, MAX_REASONS, MAX_WARNINGS, MAX_REMOVED, SHORT_SHA = 1_000, 20, 50, 100, 7
TracePlace = tuple[str, int | None, int | None]


class Filters(NamedTuple):
    """Suites and variants of a run, and tags of its traces, by name."""

    suites: Sequence[str]
    variants: Sequence[str]
    tags: Sequence[str] = ()


NO_BASELINE = (
    "This run was compared with no baseline, so that changes are not known: evalgate run --baseline baseline.zip,"
    " with the file of an earlier run, adds them."
)
MAX_CHOICE, MAX_CHOICES = 100, 200
"""Characters and number of the choices of a filter."""


def find_filters(document: ResultsDoc) -> Filters:
    """The suites, and the variants of their scenarios."""
    suites = sorted({suite["suite"] for suite in document["suites"]})
    variants = {scenario["variant"] for suite in document["suites"] for scenario in suite["scenarios"]}
    return Filters(suites, sorted(filter(None, variants)))


def place_of(trace: TraceDoc) -> TracePlace:
    """Where a trace was read, which identifies it in a run."""
    return trace.path, trace.line, trace.record


def build_page(
    document: ResultsDoc, items: Sequence[SuiteScenario], filters: Filters, conversations: str, left_out: str
) -> PageView:
    """What the page shows of the run as a whole.

    `conversations` says how many of them the page holds, `left_out` which scenarios are not in its list.
    """
    heading = build_heading(document, lambda text: clean_page_text(text, MAX_TEXT))
    removed = [
        Fact(
            clean_page_text(wording.scenario_name(each["id"], each["variant"]), MAX_NAME),
            build_cell(each["verdict"]).text,
        )
        for each in document["removed"][:MAX_REMOVED]
    ]
    return PageView(
        clean_page_text(f"EvalGate {heading.sentence} ({format_time(document['created_at'])})", MAX_TEXT),
        CellView(clean_page_text(heading.sentence, MAX_TEXT), heading.tone),
        [split_marks(each["message"]) for each in document["reasons"] if not each.get("scenario")][:MAX_REASONS],
        _list_facts(document, items),
        count_changes(items) if is_compared(document) else "",
        _describe_passed(document) if is_compared(document) else "",
        _list_remarks(document, heading.text),
        _list_prompts(document),
        _list_choices(items),
        conversations,
        left_out,
        [*removed, *_count_more(len(document["removed"]) - len(removed), "more scenario")],
        _list_warnings(document),
        "" if document["baseline"] else NO_BASELINE,
        [clean_page_text(name, MAX_CHOICE) for name in filters.suites[:MAX_CHOICES]],
        [clean_page_text(name, MAX_CHOICE) for name in filters.variants[:MAX_CHOICES]],
        list(filters.tags[:MAX_CHOICES]),
        build_history(document),
        list_approvals(document),
        _list_commands(document),
        clean_page_text(document["evalgate_version"]),
    )


def _list_remarks(document: ResultsDoc, heading: str) -> list[Sequence[str]]:
    """What is not as asked, old recordings, how many changes may be noise, what all regressions come with."""
    changed = describe_agent_changes(document, lambda text: mark_part(text.replace("->", "\u2192")))
    described = describe_other_recordings(document, heading)
    unasked = describe_unasked(document)
    return [split_marks(text) for text in (unasked, described, describe_noise(document), changed) if text]


def _list_prompts(document: ResultsDoc) -> list[PromptView]:
    return [
        PromptView(each.title, [(sign, clean_page_text(text, MAX_TEXT)) for sign, text in each.lines], each.more)
        for each in list_prompt_diffs(document)
    ]


def is_compared(document: ResultsDoc) -> bool:
    """Whether the summary of a baseline is known."""
    return document["baseline"] is not None and document["baseline"]["summary"] is not None


def _describe_passed(document: ResultsDoc) -> str:
    """How many scenarios passed, here and in the baseline."""
    if (summary := document["summary"]) is None:
        return ""
    return f"{_count_passed(summary)} passed{_describe_earlier(document['baseline'])}"


def _list_choices(items: Sequence[SuiteScenario]) -> list[ChoiceView]:
    counts = Counter(group for item in items for group in list_groups(item))
    return [
        ChoiceView("all", "all", len(items)),
        *(ChoiceView(each, name, counts[each]) for each, name in GROUPS.items()),
    ]


def _count_more(left: int, noun: str) -> list[Fact]:
    return [Fact("more", f"{wording.pluralize(left, noun)} in results.json")] if left > 0 else []


def format_time(text: str) -> str:
    """A time of a document as `2026-11-23 23:24 UTC`; any other text as it is.

    >>> format_time("2026-11-23T23:24:45Z")
    '2026-11-23 23:24 UTC'
    """
    return f"{text[:10]} {text[11:16]} UTC" if _TIME.fullmatch(text) else text


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def _list_facts(document: ResultsDoc, items: Sequence[SuiteScenario]) -> list[Fact]:
    baseline, summary = document["baseline"], document["summary"]
    facts = [
        Fact("Commit", (document["commit"] or "")[:SHORT_SHA]),
        Fact("Judged", format_time(document["created_at"])),
    ]
    if baseline is None:
        facts.append(Fact("Baseline", "none"))
    else:
        name = baseline["sha"][:SHORT_SHA] if baseline["sha"] else baseline["path"] or "none"
        age = "" if baseline["age_seconds"] is None else f", {wording.age(baseline['age_seconds'])}"
        facts.append(Fact("Baseline", f"{name} ({baseline.get('off_by') or baseline['status']}{age})"))
    if summary is not None:
        if not is_compared(document):
            facts.append(Fact("Scenarios", _describe_passed(document)))
        if summary["not_evaluable"]:
            facts.append(Fact("Not evaluable", f"{summary['not_evaluable']:,}"))
        facts.append(Fact("Cost", _describe_cost(summary, items)))
        facts.append(Fact("Tokens", wording.count(summary["total_tokens"])))
    return [Fact(label, clean_page_text(text, MAX_TEXT)) for label, text in facts if text]


def _count_passed(summary: SummaryDoc) -> str:
    return f"{summary['passed']:,} of {summary['scenarios']:,}"


def _describe_earlier(baseline: BaselineDoc | None) -> str:
    return f", {_count_passed(baseline['summary'])} in the baseline" if baseline and baseline["summary"] else ""


def _describe_cost(summary: SummaryDoc, items: Sequence[SuiteScenario]) -> str:
    text = wording.cost(summary)
    if summary["cost_usd"] is not None:
        return text
    trials = (trial for item in items for trial in item.scenario["trials"])
    return f"{text}: {wording.explain_cost(trials)}"


class Held(NamedTuple):
    """How many conversations of the run's trials the page holds, and how many of the baseline's."""

    trials: int
    baseline: int = 0


def describe_conversations(held: Held, trials: int, *, has_traces: bool) -> str:
    """How many of the run's conversations the page holds.

    Without `has_traces` it says that the run's traces were not there, and how to add them.
    """
    if not has_traces:
        return (
            "This file holds no conversations: only results.json was read. Timelines, recorded scores and the calls'"
            " results are missing too. To add them, put the baseline.zip of the same run next to results.json and"
            " run evalgate view again, or give it the baseline.zip itself."
        )
    left = f" {trials - held.trials:,} of {trials:,} are left out." if trials > held.trials else ""
    baseline = f" and {held.baseline:,} of the baseline" if held.baseline else ""
    return (
        f"This file holds {wording.pluralize(held.trials, 'recorded conversation')}{baseline}."
        f" Secrets are redacted; review it before you publish it.{left}"
    )


def _list_warnings(document: ResultsDoc) -> list[Fact]:
    texts = [(each["code"], each["message"]) for each in document["warnings"]]
    texts += [("weakened", summarize_weakening(each)) for each in list_weakenings(document)]
    facts = [Fact(clean_page_text(code), clean_page_text(text, MAX_TEXT)) for code, text in texts[:MAX_WARNINGS]]
    return [*facts, *_count_more(len(texts) - len(facts), "more warning")]


def _list_commands(document: ResultsDoc) -> list[Fact]:
    commands = [("Fetch the baseline", document.get("fetch_command")), ("Repeat the run", document.get("command"))]
    return [Fact(label, clean_page_text(text, MAX_TEXT)) for label, text in commands if text]
