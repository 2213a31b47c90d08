"""Evaluations as CSV, a row each: scores with three decimals, an empty cell if unknown.

Of texts written by people it has only names; the JSON lines hold the rest.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evalgate.errors import Location, Problem, SettingError
from evalgate.measures.redaction.redact import redact
from evalgate.models.goldens.exported_evaluation import About, Exported
from evalgate.models.run.evaluation import (
    DIMENSIONS,
    LEVELS,
    REGRESSION_STATUSES,
    EvaluationStatistics,
    GoldenEvaluation,
)
from evalgate.models.trace.trace import MAX_ID_LENGTH
from evalgate.reporting.dataset.csv_text import read_rows, rows_text
from evalgate.reporting.dataset.export_times import moment_text
from evalgate.reporting.dataset.read_jsonl import ReadEvaluations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HEAD = (
    *("evaluation_id", "golden_id", "golden_title", "version", "conversation_id", "suite", "run_id", "trial"),
    *("trace_id", "trace_sha256", "time", "intent", "stance", "score", "level"),
    *DIMENSIONS,
    *("regression_status", "previous_score", "total_turns", "avg_latency_ms", "total_tokens"),
    *("total_cost_usd", "issue_count", "critical_issue_count", "pass_rate", "evaluated_by"),
)
NEEDED = frozenset({"evaluation_id", "golden_id", "version", "suite", "time", "intent", "stance", "score"})
_MOST = 2**63


def evaluation_rows(found: Iterable[Exported]) -> str:
    """Encodes a header and one row per evaluation."""
    return rows_text([HEAD, *(list(_row(each)) for each in found)])


def read_evaluation_rows(text: str, path: str) -> ReadEvaluations:
    """Reads evaluations, without their turns and issues; an invalid row becomes a problem.

    Columns are found by name. Raises SettingError if the text is no CSV of evaluations.
    """
    rows = read_rows(text, path)
    _, head = next(rows, (0, list[str]()))
    if not set(head) >= NEEDED:
        lacking = ", ".join(sorted(NEEDED - set(head)))
        raise SettingError(Problem(f"this is no CSV of evaluations: no column {lacking}", Location(path, 1)))
    found: list[Exported] = []
    problems: list[Problem] = []
    for line, row in rows:
        try:
            if len(row) != len(head):
                raise ValueError(f"{len(row)} cells below {len(head)} heads")
            found.append(_Cells(dict(zip(head, row, strict=True))).exported())
        except ValueError as error:
            problems.append(Problem(str(error), Location(path, line)))
    return ReadEvaluations(found, problems)


def _row(each: Exported) -> Iterable[str]:
    told, about = each.evaluation, each.about
    figures = told.statistics
    names = (told.id, told.golden_id, about.title, str(told.golden_version), about.conversation_id)
    yield from (_text(name) for name in names)
    yield from (_text(name) for name in (told.suite, told.run_id, str(told.trial)))
    yield from (_text(name) for name in (told.trace_id, told.trace_sha256))
    yield moment_text(told.evaluated_at)
    yield from (_text(about.intent), _text(about.stance), _number(told.overall_score), told.level or "")
    yield from (_number(told.dimensions.get(name)) for name in DIMENSIONS)
    yield from (told.regression_status or "", _number(told.previous_score), str(figures.total_turns))
    yield from (_number(figures.avg_latency_ms), _count(figures.total_tokens))
    yield from (_number(figures.total_cost, 6), str(figures.issue_count), str(figures.critical_issue_count))
    yield from (_number(figures.pass_rate), _text(told.evaluated_by))


def _text(text: str | None) -> str:
    return redact(text) if text else ""


def _number(value: float | None, decimals: int = 3) -> str:
    return "" if value is None else f"{value:.{decimals}f}"


def _count(value: int | None) -> str:
    return "" if value is None else str(value)


class _Cells:
    """One row, read by column name; every method raises ValueError that names the column."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        self._cells = cells

    def exported(self) -> Exported:
        evaluation = GoldenEvaluation(
            id=self._required("evaluation_id"),
            golden_id=self._required("golden_id"),
            golden_version=max(1, self._count("version") or 1),
            suite=self._text("suite") or "",
            overall_score=self._score("score"),
            level=self._one_of("level", LEVELS),
            dimensions={name: self._score(name) for name in DIMENSIONS},
            statistics=self._statistics(),
            evaluated_by=self._text("evaluated_by") or "",
            evaluated_at=self._moment("time"),
            run_id=self._text("run_id"),
            trial=self._count("trial") or 0,
            trace_id=self._text("trace_id"),
            trace_sha256=self._text("trace_sha256"),
            regression_status=self._one_of("regression_status", REGRESSION_STATUSES),
            previous_score=self._score("previous_score"),
        )
        title, talk = self._text("golden_title") or "", self._text("conversation_id")
        return Exported(
            evaluation, About(title, self._text("intent") or "", self._text("stance") or "", talk)
        )

    def _statistics(self) -> EvaluationStatistics:
        return EvaluationStatistics(
            total_turns=self._count("total_turns") or 0,
            avg_latency_ms=self._amount("avg_latency_ms"),
            total_tokens=self._count("total_tokens"),
            total_cost=self._amount("total_cost_usd"),
            issue_count=self._count("issue_count") or 0,
            critical_issue_count=self._count("critical_issue_count") or 0,
            pass_rate=self._score("pass_rate"),
        )

    def _text(self, name: str) -> str | None:
        text = self._cells.get(name)
        if text and len(text) > MAX_ID_LENGTH and name != "golden_title":
            raise ValueError(f"`{name}` has more than {MAX_ID_LENGTH} characters")
        return text or None

    def _required(self, name: str) -> str:
        text = self._text(name)
        if text is None:
            raise ValueError(f"`{name}` is empty")
        return text

    def _amount(self, name: str, most: float = 1e15) -> float | None:
        text = self._text(name)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= most:  # false for NaN, too
            raise ValueError(f"`{name}` is no number between 0 and {most:g}")
        return value

    def _score(self, name: str) -> float | None:
        return self._amount(name, 1)

    def _count(self, name: str) -> int | None:
        text = self._text(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < len(str(_MOST))):
            raise ValueError(f"`{name}` is no whole number")
        return int(text)

    def _moment(self, name: str) -> datetime:
        try:
            moment = datetime.fromisoformat(self._cells[name])
            if moment.tzinfo is not None:
                return moment.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise ValueError(f"`{name}` is no RFC 3339 time with its time zone")

    def _one_of(self, name: str, words: Iterable[Any]) -> Any:
        text = self._text(name)
        if text is not None and text not in words:
            raise ValueError(f"`{name}` is none of {', '.join(words)}")
        return text
