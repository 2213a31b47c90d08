"""What a worker found, as plain tuples that cost little to send: what trials share is sent once."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from evalgate.application.claims import Candidate
from evalgate.application.judged import Damage, JudgedRecord, Option
from evalgate.application.trace_warnings import place_of
from evalgate.errors import Location
from evalgate.models.behaviour import Course, CourseCall, Turn
from evalgate.models.evaluation import Issue, TurnResult
from evalgate.models.golden_result import GoldenTrial
from evalgate.models.run import AssertionResult, TraceRef, TrialResult
from evalgate.models.trace import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from evalgate.ports import FoundFile

    Row = tuple[Any, ...]

APART = frozenset({"trial", "trace", "assertions", "tool_calls", "golden"})
"""Fields of a trial that are not sent as they are."""
FIELDS = tuple(name for name in TrialResult.__match_args__ if name not in APART)
_of_trial = attrgetter(*FIELDS)
_of_check = attrgetter(*AssertionResult.__match_args__)
_of_ref = attrgetter(*TraceRef.__match_args__)
_LOCATION = AssertionResult.__match_args__.index("location")
_ISSUES, _SCORES = map(TurnResult.__match_args__.index, ("issues", "scores"))


class Packer:
    """Makes rows of what a worker found in one batch."""

    def __init__(self) -> None:
        self.checks: list[Row] = []
        self.calls: list[Row] = []
        self._checks: dict[Hashable, int] = {}
        self._calls: dict[Hashable, int] = {}

    def trial(self, trial: TrialResult) -> Row:
        """One trial; which recording it judged is not told."""
        checks = tuple(map(self._check, trial.assertions))
        golden = None if trial.golden is None else _golden_row(trial.golden)
        return checks, self._names(trial.tool_calls), golden, *_of_trial(trial)

    def ref(self, ref: TraceRef) -> Row:
        """Which recording it is."""
        found: Row = _of_ref(ref)
        return found

    def course(self, course: Course) -> Row:
        """What happened in a recording."""
        turns = tuple((number, turn.user, turn.agent) for number, turn in course.turns.items())
        calls = tuple(map(tuple, course.calls))
        return calls, turns, course.response, course.status, course.error, course.left_out

    def _check(self, found: AssertionResult) -> int:
        row: list[Any] = list(_of_check(found))
        place = row[_LOCATION]
        row[_LOCATION] = None if place is None else tuple(place)
        if found.evidence is not None:
            self.checks.append(tuple(row))
            return len(self.checks) - 1
        # 1 and 1.0 are equal and yet written differently.
        key = (*row, found.score.__class__, found.weight.__class__)
        number = self._checks.get(key)
        if number is None:
            number = self._checks[key] = len(self.checks)
            self.checks.append(tuple(row))
        return number

    def _names(self, names: Sequence[str]) -> int:
        key = tuple(names)
        number = self._calls.get(key)
        if number is None:
            number = self._calls[key] = len(self.calls)
            self.calls.append(key)
        return number


class Unpacker:
    """Makes of the rows of one batch what they were made of. Trials share what is the same in them."""

    def __init__(self, checks: Sequence[Row], calls: Sequence[Row]) -> None:
        self._checks = list(map(_assertion, checks))
        self._calls = list(map(list, calls))

    def record(self, row: Row, judged: Row) -> JudgedRecord:
        """One record as one suite judged it."""
        ref_row, recorded, started_at = row
        scenario_id, damage, options = judged
        ref = TraceRef(*ref_row)
        source = Source(ref.path, ref.format, ref.line, ref.record, ref.sha256)
        if damage is not None:
            fallback_id, number, trial = damage
            bare = TraceRef(None, ref.path, ref.format, ref.sha256, ref.line, ref.record)
            stands = Damage(self._trial(trial, bare, number or 0), fallback_id)
            candidates = [Option(Candidate(*option[0])) for option in options]
            return JudgedRecord(source, bare, scenario_id, number, None, candidates, stands)
        found = [self._option(option, ref) for option in options]
        return JudgedRecord(source, ref, scenario_id, recorded, started_at, found)

    def _option(self, row: Row, ref: TraceRef) -> Option:
        candidate, trial, course = row
        return Option(
            Candidate(*candidate),
            None if trial is None else self._trial(trial, ref, 0),
            None if course is None else _course(course),
        )

    def _trial(self, row: Row, ref: TraceRef, number: int) -> TrialResult:
        checks, calls, golden, *values = row
        fields: Mapping[str, Any] = dict(zip(FIELDS, values, strict=True))
        return TrialResult(
            trial=number,
            trace=ref,
            assertions=[self._checks[check] for check in checks],
            tool_calls=self._calls[calls],
            golden=None if golden is None else _golden_trial(golden),
            **fields,
        )


def _assertion(row: Row) -> AssertionResult:
    place = row[_LOCATION]
    values = [*row]
    values[_LOCATION] = None if place is None else Location(*place)
    return AssertionResult(*values)


def _course(row: Row) -> Course:
    calls, turns, *rest = row
    return Course(
        [CourseCall(*call) for call in calls], {number: Turn(*said) for number, *said in turns}, *rest
    )


def _golden_row(golden: GoldenTrial) -> Row:
    turns = tuple(_turn_row(turn) for turn in golden.turns)
    return dict(golden.dimensions), turns, tuple(map(tuple, golden.issues)), tuple(golden.numbers)


def _turn_row(turn: TurnResult) -> Row:
    values = [getattr(turn, name) for name in TurnResult.__match_args__]
    values[_ISSUES] = tuple(map(tuple, turn.issues))
    values[_SCORES] = dict(turn.scores)
    return tuple(values)


def _golden_trial(row: Row) -> GoldenTrial:
    dimensions, turns, issues, numbers = row
    return GoldenTrial(dimensions, list(map(_turn, turns)), _issues(issues), numbers)


def _turn(row: Row) -> TurnResult:
    values = [tuple(value) if isinstance(value, list) else value for value in row]
    values[_ISSUES] = _issues(row[_ISSUES])
    made: Callable[..., TurnResult] = TurnResult
    return made(*values)


def _issues(rows: Sequence[Row]) -> tuple[Issue, ...]:
    return tuple(Issue(*row) for row in rows)


def lost_record(file: FoundFile, line: int | None, name: str, how: str) -> dict[str, Any]:
    """What is found of a record that nobody can judge and live."""
    packer = Packer()
    source = Source(file.path, line=line)
    ref = TraceRef(None, source.path, source.format, None, line)
    reason = f"{place_of(source)}: no worker could judge it: the last one {how}"
    trial = TrialResult(0, ref, "error", 0.0, [], reason=reason)
    judged = (None, (name, None, packer.trial(trial)), ())
    return {
        "records": [((packer.ref(ref), None, None), judged, judged)],
        "checks": packer.checks,
        "calls": packer.calls,
        "warnings": [],
        "unpriced": {},
        "parts": [],
        "lines": None,
        "size": 0,
    }
