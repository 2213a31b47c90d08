"""One compiled assertion: its weight, its place in the suite, and its check, which no trace can crash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import force_setattr

from evalgate.evaluators.core.evaluator import Finding
from evalgate.evaluators.core.evidence import is_skippable
from evalgate.models.run.run import AssertionResult

if TYPE_CHECKING:
    from evalgate.errors import Location
    from evalgate.evaluators.core.evaluator import Check
    from evalgate.models.run.golden import Dimension
    from evalgate.models.run.run import Outcome, Required
    from evalgate.models.trace.trace import Trace

    _RowKey = tuple[str, int, float | None, type]

MAX_CACHED_ROWS = 20
"""Result rows per outcome that an assertion caches, since other traces may get the same row."""


class _RowCache:
    """Cache of an assertion's result rows: most checks return the same finding for many traces.

    `rows` holds the first rows of each outcome; `row` is the row last reused, and `finding` its finding.
    """

    __slots__ = ("finding", "row", "rows")

    row: AssertionResult

    def __init__(self) -> None:
        self.finding: Finding | None = None
        self.rows: dict[Outcome, dict[_RowKey, AssertionResult]] = {}


class Assertion(Struct, frozen=True, eq=False):
    """A check ready to run. With `on_missing_skip`, lacking evidence does not count in the trial's mean.

    `written` is the entry of the suite, with the scheduling tool of its scenario and variant filled in;
    `dimension` is the dimension of a golden that it judges. `careful_check` replaces `check` on traces with gaps
    in their evidence.
    """

    name: str
    type: str
    weight: float
    required: Required
    on_missing_skip: bool
    check: Check
    location: Location | None = None
    warning: str | None = None
    written: Any = None
    dimension: Dimension | None = None
    careful_check: Check | None = None
    row_cache: Any = None  # a _RowCache

    def __post_init__(self) -> None:
        """Begins an empty cache, also in a copy with another weight: its rows differ."""
        force_setattr(self, "row_cache", _RowCache())

    def evaluate(self, trace: Trace) -> Finding:
        """Returns the finding; a crash of the check is an `error`, so that the other checks still report."""
        try:
            return self._check_carefully(trace) if trace.gaps else self.check(trace)
        except Exception as error:  # noqa: BLE001  (a crash is a result)
            return _build_crash_finding(error)

    def assess(self, trace: Trace) -> AssertionResult:
        """Returns the finding as a row of the results."""
        try:
            found = self._check_carefully(trace) if trace.gaps else self.check(trace)
        except Exception as error:  # noqa: BLE001  (a crash is a result)
            found = _build_crash_finding(error)
        cache: _RowCache = self.row_cache
        if found is cache.finding:
            return cache.row
        outcome, reason, evidence, score = found
        rows = cache.rows.get(outcome)
        if rows is None:
            rows = cache.rows[outcome] = {}
        # Cached rows keep their evidence alive, so its id stays unique; 1 and 1.0 differ in the JSON output.
        key = reason, id(evidence), score, score.__class__
        row = rows.get(key)
        if row is not None:
            row.is_shared = True
            cache.finding, cache.row = found, row
            return row
        is_skipped = outcome == "not_evaluable" and self.on_missing_skip and is_skippable(found)
        row = self._row(outcome, reason, evidence, score, counts=not is_skipped)
        if len(rows) < MAX_CACHED_ROWS:
            rows[key] = row
        return row

    def _check_carefully(self, trace: Trace) -> Finding:
        return (self.careful_check or self.check)(trace)

    def _row(
        self, outcome: Outcome, reason: str, evidence: dict[str, Any] | None, score: float | None, *, counts: bool
    ) -> AssertionResult:
        if not reason.isprintable():  # for example a tool's name with line breaks
            reason = " ".join(reason.split())
        if score is None:
            score = 1.0 if outcome == "passed" else 0.0
        return AssertionResult(
            self.name,
            self.type,
            outcome,
            score,
            self.weight,
            self.required,
            reason,
            self.location,
            evidence,
            counts,
        )


def _build_crash_finding(error: Exception) -> Finding:
    return Finding("error", f"the check crashed on this trace ({type(error).__name__})")
