"""Evaluations as CSV, a row each: scores with three decimals, an empty cell if unknown.

Of texts written by people it has only names; the JSON lines hold the rest.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evalgate.errors import Location, Problem, SettingError
from evalgate.features.store.reporting.dataset.evaluation_jsonl import ReadEvaluations
from evalgate.features.store.reporting.dataset.golden_document import format_time
from evalgate.measures.redaction.redact import redact
from evalgate.models.goldens import ExportedEvaluation, GoldenSummary
from evalgate.models.run.golden import DIMENSIONS, LEVELS, REGRESSION_STATUSES, EvaluationStatistics, GoldenEvaluation
from evalgate.models.trace.trace import MAX_ID_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

HEADER = (
    *("evaluation_id", "golden_id", "golden_title", "version", "conversation_id", "suite", "run_id", "trial"),
    *("trace_id", "trace_sha256", "time", "intent", "stance", "score", "level"),
    *DIMENSIONS,
    *("regression_status", "previous_score", "total_turns", "avg_latency_ms", "total_tokens"),
    *("total_cost_usd", "issue_count", "critical_issue_count", "pass_rate", "evaluated_by"),
)
REQUIRED = frozenset({"evaluation_id", "golden_id", "version", "suite", "time", "intent", "stance", "score"})
_MAX_COUNT = 2**63


def encode_evaluation_csv(evaluations: Iterable[ExportedEvaluation]) -> str:
    """Encodes a header and one row per evaluation."""
    return encode_rows([HEADER, *(list(_build_row(each)) for each in evaluations)])


def read_evaluation_csv(text: str, path: str) -> ReadEvaluations:
    """Reads evaluations, without their turns and issues; an invalid row becomes a problem.

    Columns are found by name. Raises SettingError if a column is missing.
    """
    rows = read_rows(text, path)
    _, header = next(rows, (0, list[str]()))
    if not set(header) >= REQUIRED:
        missing = ", ".join(sorted(REQUIRED - set(header)))
        raise SettingError(Problem(f"not a CSV file of evaluations: no column {missing}", Location(path, 1)))
    found: list[ExportedEvaluation] = []
    problems: list[Problem] = []
    for line, row in rows:
        try:
            if len(row) != len(header):
                raise ValueError(f"the row has {len(row)} cells, the header {len(header)}")
            found.append(_CsvRow(dict(zip(header, row, strict=True))).to_evaluation())
        except ValueError as error:
            problems.append(Problem(str(error), Location(path, line)))
    return ReadEvaluations(found, problems)


def _build_row(exported: ExportedEvaluation) -> Iterable[str]:
    result, golden = exported.evaluation, exported.golden
    figures = result.statistics
    names = (result.id, result.golden_id, golden.title, str(result.golden_version), golden.conversation_id)
    yield from (_redact(name) for name in names)
    yield from (_redact(name) for name in (result.suite, result.run_id, str(result.trial)))
    yield from (_redact(name) for name in (result.trace_id, result.trace_sha256))
    yield format_time(result.evaluated_at)
    yield from (_redact(golden.intent), _redact(golden.stance), _number(result.overall_score), result.level or "")
    yield from (_number(result.dimensions.get(name)) for name in DIMENSIONS)
    yield from (result.regression_status or "", _number(result.previous_score), str(figures.total_turns))
    yield from (_number(figures.avg_latency_ms), _count(figures.total_tokens))
    yield from (_number(figures.total_cost, 6), str(figures.issue_count), str(figures.critical_issue_count))
    yield from (_number(figures.pass_rate), _redact(result.evaluated_by))


def _redact(text: str | None) -> str:
    return redact(text) if text else ""


def _number(value: float | None, decimals: int = 3) -> str:
    return "" if value is None else f"{value:.{decimals}f}"


def _count(value: int | None) -> str:
    return "" if value is None else str(value)


class _CsvRow:
    """One row, read by column name; every method raises ValueError that names the column."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        self._cells = cells

    def to_evaluation(self) -> ExportedEvaluation:
        evaluation = GoldenEvaluation(
            id=self._require_text("evaluation_id"),
            golden_id=self._require_text("golden_id"),
            golden_version=max(1, self._read_count("version") or 1),
            suite=self._read_text("suite") or "",
            overall_score=self._read_score("score"),
            level=self._read_choice("level", LEVELS),
            dimensions={name: self._read_score(name) for name in DIMENSIONS},
            statistics=self._read_statistics(),
            evaluated_by=self._read_text("evaluated_by") or "",
            evaluated_at=self._read_time("time"),
            run_id=self._read_text("run_id"),
            trial=self._read_count("trial") or 0,
            trace_id=self._read_text("trace_id"),
            trace_sha256=self._read_text("trace_sha256"),
            regression_status=self._read_choice("regression_status", REGRESSION_STATUSES),
            previous_score=self._read_score("previous_score"),
        )
        title, chat = self._read_text("golden_title") or "", self._read_text("conversation_id")
        return ExportedEvaluation(
            evaluation, GoldenSummary(title, self._read_text("intent") or "", self._read_text("stance") or "", chat)
        )

    def _read_statistics(self) -> EvaluationStatistics:
        return EvaluationStatistics(
            total_turns=self._read_count("total_turns") or 0,
            avg_latency_ms=self._read_amount("avg_latency_ms"),
            total_tokens=self._read_count("total_tokens"),
            total_cost=self._read_amount("total_cost_usd"),
            issue_count=self._read_count("issue_count") or 0,
            critical_issue_count=self._read_count("critical_issue_count") or 0,
            pass_rate=self._read_score("pass_rate"),
        )

    def _read_text(self, name: str) -> str | None:
        text = self._cells.get(name)
        if text and len(text) > MAX_ID_LENGTH and name != "golden_title":
            raise ValueError(f"`{name}` has more than {MAX_ID_LENGTH} characters")
        return text or None

    def _require_text(self, name: str) -> str:
        text = self._read_text(name)
        if text is None:
            raise ValueError(f"`{name}` is empty")
        return text

    def _read_amount(self, name: str, maximum: float = 1e15) -> float | None:
        text = self._read_text(name)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= maximum:  # false for NaN, too
            raise ValueError(f"`{name}` is not a number between 0 and {maximum:g}")
        return value

    def _read_score(self, name: str) -> float | None:
        return self._read_amount(name, 1)

    def _read_count(self, name: str) -> int | None:
        text = self._read_text(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < len(str(_MAX_COUNT))):
            raise ValueError(f"`{name}` is not a whole number")
        return int(text)

    def _read_time(self, name: str) -> datetime:
        try:
            moment = datetime.fromisoformat(self._cells[name])
            if moment.tzinfo is not None:
                return moment.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise ValueError(f"`{name}` is not an RFC 3339 time with a time zone")

    def _read_choice(self, name: str, words: Iterable[Any]) -> Any:
        text = self._read_text(name)
        if text is not None and text not in words:
            raise ValueError(f"`{name}` is not one of {', '.join(words)}")
        return text


MAX_CELL = 1_000_000

# Characters that start a formula in a spreadsheet, in every width and after blanks that it skips. Apostrophes
# before them match too, so that a text that starts with one gets another, and reading removes only that.
_BLANK = "[\\s\u200b-\u200f\u2060-\u2064\ufeff\u00ad\x00]"
_FORMULA = re.compile(f"'*(?:[\t\r]|{_BLANK}*[=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212])")
# Every line end that any reader knows, not only those of RFC 4180.
_NEEDS_QUOTES = re.compile('[",;\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]|^\\s|\\s$')


def encode_rows(rows: Iterable[Sequence[str]]) -> str:
    """Encodes rows with escaped cells; each line ends with CR LF."""
    return "".join(f"{','.join(map(_escape_cell, row))}\r\n" for row in rows)


def read_rows(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Yields rows, each with the line it ends on; cells are unescaped.

    Raises SettingError for invalid CSV, with the line of the file at `path`.
    """
    import csv

    csv.field_size_limit(MAX_CELL)
    rows = csv.reader((f"{line}\n" for line in text.removeprefix("\ufeff").split("\n")), strict=True)
    while True:
        try:
            row = next(rows, None)
        except csv.Error:
            location = Location(path, rows.line_num)
            raise SettingError(Problem("invalid CSV (RFC 4180)", location)) from None
        if row is None:
            return
        if row:
            yield rows.line_num, [(cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell) for cell in row]


def _escape_cell(text: str) -> str:
    harmless = f"'{text}" if _FORMULA.match(text) else text
    return f'"{harmless.replace(chr(34), chr(34) * 2)}"' if _NEEDS_QUOTES.search(harmless) else harmless
