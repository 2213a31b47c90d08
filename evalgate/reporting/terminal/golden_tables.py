"""Goldens, regression suites and feedback in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.terminal.terminal_page import TerminalPage
from evalgate.reporting.terminal.text_columns import columns
from evalgate.reporting.text import wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from evalgate.models.goldens.feedback import Feedback
    from evalgate.models.goldens.regression_suite import RegressionSuite
    from evalgate.models.run.evaluation import GoldenEvaluation
    from evalgate.models.run.golden import Golden

MOST_TURNS = 50
_DIMENSIONS = ("identity", "memory", "tools", "tone", "refusal", "accuracy", "completeness")
_COLOURS = {"pass": "green", "improvement": "green", "fail": "red", "degradation": "red"}


def golden_table(goldens: Sequence[Golden], width: int) -> str:
    """Renders one line per golden."""
    head = ("ID", "TITLE", "INTENT", "STANCE", "TURNS", "TAGS", "CREATOR", "VERSION")
    return columns(head, [_golden_row(golden) for golden in goldens], width)


def golden_page(golden: Golden, last: Sequence[GoldenEvaluation], *, width: int, colour: bool) -> str:
    """Renders one golden with its turns, and the scores of its last `evaluations`."""
    page = TerminalPage(width, colour=colour)
    page.heading("GOLDEN", golden.id, "green")
    for label, text in _facts(golden):
        if text:
            page.fact(label, text)
    turns = max(len(golden.user_messages), len(golden.golden_responses))
    for number in range(min(turns, MOST_TURNS)):
        page.title(f"turn {number + 1}")
        page.fact("user", _at(golden.user_messages, number))
        page.fact("golden", _at(golden.golden_responses, number))
    if turns > MOST_TURNS:
        page.title(f"... and {wording.counted(turns - MOST_TURNS, 'more turn')}")
    if last:
        page.title("last evaluations")
    for each in last:
        word = each.regression_status or "not evaluable"
        told = f"{_day(each.evaluated_at)}  {wording.score(each.overall_score)}  {each.suite}"
        page.labelled(word, told, _COLOURS.get(word, "yellow"), indent=2)
    return str(page)


def suite_table(suites: Sequence[RegressionSuite], width: int) -> str:
    """Renders one line per regression suite."""
    head = ("NAME", "GOLDENS", "PASSING SCORE", "CRITICAL ISSUES", "NOT EVALUATED", "TAGS")
    return columns(head, [_suite_row(suite) for suite in suites], width)


def suite_page(suite: RegressionSuite, goldens: Sequence[Golden], *, width: int, colour: bool) -> str:
    """Renders one regression suite with the goldens that it selects now."""
    page = TerminalPage(width, colour=colour)
    page.heading("SUITE", suite.name, "green")
    facts = (
        ("about", suite.description),
        ("goldens", _choice(suite)),
        ("passes", f"from {wording.score(suite.passing_score)}"),
        ("critical", f"at most {wording.counted(suite.critical_issue_threshold, 'critical issue')}"),
        ("without", ", ".join(_left_out(suite))),
        ("creator", suite.creator or ""),
        ("tags", ", ".join(suite.tags)),
    )
    for label, text in facts:
        if text:
            page.fact(label, text)
    page.title(f"{wording.counted(len(goldens), 'golden')} now")
    for golden in goldens[:MOST_TURNS]:
        page.say(f"{golden.id}  {golden.title}".rstrip(), indent=2)
    if len(goldens) > MOST_TURNS:
        page.say(f"... and {wording.counted(len(goldens) - MOST_TURNS, 'more golden')}", indent=2)
    return str(page)


def feedback_table(said: Sequence[Feedback], width: int) -> str:
    """Renders one line per feedback entry."""
    head = ("TIME", "CONVERSATION", "RATING", "FEEDBACK", "GOLDEN", "ISSUES", "COMMENT")
    rows = [
        (
            _day(each.created_at),
            each.conversation_id,
            f"{each.rating}/5",
            each.feedback,
            each.golden_id or "",
            ", ".join(each.issues),
            each.comment,
        )
        for each in said
    ]
    return columns(head, rows, width)


def _golden_row(golden: Golden) -> tuple[str, ...]:
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


def _facts(golden: Golden) -> Iterable[tuple[str, str]]:
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
    since = f", since {_day(golden.updated_at)}" if golden.updated_at else ""
    yield "version", f"{golden.version}{since}"


def _at(texts: Sequence[str], number: int) -> str:
    return texts[number] if number < len(texts) else wording.DASH


def _suite_row(suite: RegressionSuite) -> tuple[str, ...]:
    return (
        suite.name,
        _choice(suite),
        wording.score(suite.passing_score),
        str(suite.critical_issue_threshold),
        ", ".join(_left_out(suite)),
        ", ".join(suite.tags),
    )


def _choice(suite: RegressionSuite) -> str:
    parts = [
        ", ".join(suite.golden_ids),
        *(f"tag {tag}" for tag in suite.golden_tags),
        *(f"intent {intent}" for intent in suite.golden_intents),
    ]
    return "; ".join(filter(None, parts))


def _left_out(suite: RegressionSuite) -> list[str]:
    return [name for name in _DIMENSIONS if not getattr(suite, f"evaluate_{name}")]


def _day(moment: datetime | None) -> str:
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M")
