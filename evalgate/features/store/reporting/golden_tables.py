"""Goldens, regression suites and feedback in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.terminal.terminal_page import TerminalPage, format_columns
from evalgate.reporting.text import wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from evalgate.models.goldens import Feedback, RegressionSuite
    from evalgate.models.run.golden import Golden, GoldenEvaluation

MAX_TURNS = 50
_DIMENSIONS = ("identity", "memory", "tools", "tone", "refusal", "accuracy", "completeness")
_COLOURS = {"pass": "green", "improvement": "green", "fail": "red", "degradation": "red"}


def render_golden_table(goldens: Sequence[Golden], width: int) -> str:
    """Renders one line per golden."""
    head = ("ID", "TITLE", "INTENT", "STANCE", "TURNS", "TAGS", "CREATOR", "VERSION")
    return format_columns(head, [_build_golden_row(golden) for golden in goldens], width)


def render_golden(golden: Golden, evaluations: Sequence[GoldenEvaluation], *, width: int, colour: bool) -> str:
    """Renders one golden with its turns, and the scores of its last `evaluations`."""
    page = TerminalPage(width, colour=colour)
    page.add_heading("GOLDEN", golden.id, "green")
    for label, text in _list_facts(golden):
        if text:
            page.add_fact(label, text)
    turns = max(len(golden.user_messages), len(golden.golden_responses))
    for number in range(min(turns, MAX_TURNS)):
        page.add_title(f"turn {number + 1}")
        page.add_fact("user", _get_text(golden.user_messages, number))
        page.add_fact("golden", _get_text(golden.golden_responses, number))
    if turns > MAX_TURNS:
        page.add_title(f"... and {wording.pluralize(turns - MAX_TURNS, 'more turn')}")
    if evaluations:
        page.add_title("last evaluations")
    for each in evaluations:
        word = each.regression_status or "not evaluable"
        text_of_run = f"{_format_time(each.evaluated_at)}  {wording.score(each.overall_score)}  {each.suite}"
        page.add_labelled(word, text_of_run, _COLOURS.get(word, "yellow"), indent=2)
    return str(page)


def render_suite_table(suites: Sequence[RegressionSuite], width: int) -> str:
    """Renders one line per regression suite."""
    head = ("NAME", "GOLDENS", "PASSING SCORE", "CRITICAL ISSUES", "NOT EVALUATED", "TAGS")
    return format_columns(head, [_build_suite_row(suite) for suite in suites], width)


def render_suite(suite: RegressionSuite, goldens: Sequence[Golden], *, width: int, colour: bool) -> str:
    """Renders one regression suite with the goldens that it selects now."""
    page = TerminalPage(width, colour=colour)
    page.add_heading("SUITE", suite.name, "green")
    facts = (
        ("about", suite.description),
        ("goldens", _format_selection(suite)),
        ("passes", f"with a score of at least {wording.score(suite.passing_score)}"),
        ("critical", f"at most {wording.pluralize(suite.critical_issue_threshold, 'critical issue')}"),
        ("without", ", ".join(_list_disabled(suite))),
        ("creator", suite.creator or ""),
        ("tags", ", ".join(suite.tags)),
    )
    for label, text in facts:
        if text:
            page.add_fact(label, text)
    page.add_title(f"{wording.pluralize(len(goldens), 'golden')} selected now")
    for golden in goldens[:MAX_TURNS]:
        page.add_text(f"{golden.id}  {golden.title}".rstrip(), indent=2)
    if len(goldens) > MAX_TURNS:
        page.add_text(f"... and {wording.pluralize(len(goldens) - MAX_TURNS, 'more golden')}", indent=2)
    return str(page)


def render_feedback_table(feedback: Sequence[Feedback], width: int) -> str:
    """Renders one line per feedback entry."""
    head = ("TIME", "CONVERSATION", "RATING", "FEEDBACK", "GOLDEN", "ISSUES", "COMMENT")
    rows = [
        (
            _format_time(each.created_at),
            each.conversation_id,
            f"{each.rating}/5",
            each.feedback,
            each.golden_id or "",
            ", ".join(each.issues),
            each.comment,
        )
        for each in feedback
    ]
    return format_columns(head, rows, width)


def _build_golden_row(golden: Golden) -> tuple[str, ...]:
    return (
        golden.id,
        golden.title,
        golden.intent,
        golden.primary_stance,
        str(len(golden.user_messages)),
        ", ".join(golden.tags),
        golden.creator or "",
        str(golden.version),
    )


def _list_facts(golden: Golden) -> Iterable[tuple[str, str]]:
    yield "title", golden.title
    yield "about", golden.description
    yield "talk", golden.conversation_id or ""
    yield "intent", golden.intent
    yield "stance", ", ".join([golden.primary_stance, *golden.secondary_stances])
    yield "memory", ", ".join(golden.required_memory_recall)
    yield "tools", ", ".join(golden.required_tool_usage)
    yield "refusal", ", ".join(golden.required_refusal)
    yield "tags", ", ".join(golden.tags)
    yield "creator", golden.creator or ""
    since = f", since {_format_time(golden.updated_at)}" if golden.updated_at else ""
    yield "version", f"{golden.version}{since}"


def _get_text(texts: Sequence[str], number: int) -> str:
    return texts[number] if number < len(texts) else wording.DASH


def _build_suite_row(suite: RegressionSuite) -> tuple[str, ...]:
    return (
        suite.name,
        _format_selection(suite),
        wording.score(suite.passing_score),
        str(suite.critical_issue_threshold),
        ", ".join(_list_disabled(suite)),
        ", ".join(suite.tags),
    )


def _format_selection(suite: RegressionSuite) -> str:
    parts = [
        ", ".join(suite.golden_ids),
        *(f"tag {tag}" for tag in suite.golden_tags),
        *(f"intent {intent}" for intent in suite.golden_intents),
    ]
    return "; ".join(filter(None, parts))


def _list_disabled(suite: RegressionSuite) -> list[str]:
    return [name for name in _DIMENSIONS if not getattr(suite, f"evaluate_{name}")]


def _format_time(moment: datetime | None) -> str:
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M")
