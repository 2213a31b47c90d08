"""Encodes what a worker found as plain tuples that are cheap to send; shared parts are sent once."""

from __future__ import annotations

import marshal
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from evalgate.application.evaluation.evaluated_trace import CandidateResult, Damage, EvaluatedTrace
from evalgate.application.evaluation.scenario_matcher import ScenarioCandidate
from evalgate.errors import Location
from evalgate.models.comparison.trajectory import Trajectory, TrajectoryCall, TrajectoryTurn
from evalgate.models.run.golden import GoldenTrial, Issue, TurnResult
from evalgate.models.run.run import AssertionResult, TraceRef, TrialResult
from evalgate.models.run.trial_record import TrialRecord, decode_summary
from evalgate.models.trace.trace import TraceLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    Row = tuple[Any, ...]
    Shared = dict[bytes, AssertionResult]

MOST_SHARED = 100_000
"""How many assertion results trials may share, over all batches."""
APART = frozenset({"trial", "trace", "assertions", "tool_calls", "golden"})
"""Fields of a trial that are encoded differently."""
_SENT = tuple(name for name in TrialResult.__match_args__ if name != "together")
FIELDS = tuple(name for name in _SENT if name not in APART)
_of_trial = attrgetter(*FIELDS)
_UNPACKED = ("trial", "trace", "assertions", "tool_calls", "golden", *FIELDS)
_in_place = itemgetter(*map(_UNPACKED.index, _SENT))
CHECK = tuple(name for name in AssertionResult.__match_args__ if name != "is_shared")
_of_check = attrgetter(*CHECK)
_of_ref = attrgetter(*TraceRef.__match_args__)
_LOCATION = CHECK.index("location")
_ISSUES, _SCORES = map(TurnResult.__match_args__.index, ("issues", "scores"))


class WorkerEncoder:
    """Encodes what a worker found in one batch."""

    def __init__(self) -> None:
        self.checks: list[list[Any]] = []
        self.calls: list[Row] = []
        self._checks: dict[Hashable, int] = {}
        self._shared: dict[int, int] = {}  # by identity: shared rows are kept, so identities stay unique
        self._calls: dict[Hashable, int] = {}

    def trial(self, trial: TrialResult) -> Row:
        """One trial, without the reference to its trace."""
        checks = tuple(map(self._check, trial.assertions))
        golden = None if trial.golden is None else _golden_row(trial.golden)
        return checks, self._names(trial.tool_calls), golden, *_of_trial(trial)

    def ref(self, ref: TraceRef) -> Row:
        """The reference to a trace."""
        found: Row = _of_ref(ref)
        return found

    def trajectory(self, trajectory: Trajectory) -> Row:
        """The trajectory of a trace."""
        turns = tuple((number, turn.user, turn.agent) for number, turn in trajectory.turns.items())
        calls = tuple(map(tuple, trajectory.calls))
        return calls, turns, trajectory.response, trajectory.status, trajectory.error, trajectory.left_out

    def _check(self, found: AssertionResult) -> int:
        """The index of its row, whose last field is whether others share it."""
        if found.is_shared:
            number = self._shared.get(id(found))
            if number is None:
                number = self._shared[id(found)] = self._add(found, is_shared=True)
            return number
        if found.evidence is not None:
            return self._add(found)
        # 1 and 1.0 are equal but written differently.
        key = (*_of_check(found), found.score.__class__, found.weight.__class__)
        number = self._checks.get(key)
        if number is None:
            number = self._checks[key] = self._add(found)
        else:
            self.checks[number][-1] = True
        return number

    def _add(self, found: AssertionResult, *, is_shared: bool = False) -> int:
        row: list[Any] = [*_of_check(found), is_shared]
        place = row[_LOCATION]
        row[_LOCATION] = None if place is None else tuple(place)
        self.checks.append(row)
        return len(self.checks) - 1

    def _names(self, names: Sequence[str]) -> int:
        key = tuple(names)
        number = self._calls.get(key)
        if number is None:
            number = self._calls[key] = len(self.calls)
            self.calls.append(key)
        return number


class WorkerDecoder:
    """Decodes the rows of one batch.

    Trials share equal parts, across batches too: `known` are the results shared so far.
    """

    def __init__(self, checks: Sequence[Row], calls: Sequence[Row], known: Shared) -> None:
        self._known = known
        self._checks = list(map(self._assertion, checks))
        self._calls = list(map(list, calls))

    def record(self, row: Row, judged: Row) -> EvaluatedTrace:
        """One record as judged by one suite."""
        ref_row, recorded, started_at = row
        scenario_id, damage, options = judged
        ref = TraceRef(*ref_row)
        source = TraceLocation(ref.path, ref.format, ref.line, ref.record, ref.sha256)
        if damage is not None:
            fallback_id, number, trial = damage
            bare = TraceRef(None, ref.path, ref.format, ref.sha256, ref.line, ref.record)
            stands = Damage(self._trial(trial, bare, number or 0), fallback_id)
            candidates = [CandidateResult(ScenarioCandidate(*option[0])) for option in options]
            return EvaluatedTrace(source, bare, scenario_id, number, None, candidates, stands)
        found = [self._option(option, ref) for option in options]
        return EvaluatedTrace(source, ref, scenario_id, recorded, started_at, found)

    def _assertion(self, row: Row) -> AssertionResult:
        *values, is_shared = row
        key = marshal.dumps(row) if is_shared else b""
        if key in self._known:
            return self._known[key]
        place = values[_LOCATION]
        values[_LOCATION] = None if place is None else Location(*place)
        found = AssertionResult(*values)
        found.is_shared = is_shared
        if is_shared and len(self._known) < MOST_SHARED:
            self._known[key] = found
        return found

    def _option(self, row: Row, ref: TraceRef) -> CandidateResult:
        candidate, trial, trajectory = row
        judged: TrialResult | TrialRecord | None = None
        if trial is not None:
            judged = _trial_record(trial) if is_trial_record(trial) else self._trial(trial, ref, 0)
        return CandidateResult(
            ScenarioCandidate(*candidate), judged, None if trajectory is None else _trajectory(trajectory)
        )

    def _trial(self, row: Row, ref: TraceRef, number: int) -> TrialResult:
        checks, calls, golden, *values = row
        assertions = [self._checks[check] for check in checks]
        made = None if golden is None else _golden_trial(golden)
        return TrialResult(*_in_place((number, ref, assertions, self._calls[calls], made, *values)))


def _trial_record(row: Row) -> TrialRecord:
    document, checked, *rest = row
    return TrialRecord(document, decode_summary(checked), *rest)


def _trajectory(row: Row) -> Trajectory:
    calls, turns, *rest = row
    return Trajectory(
        [TrajectoryCall(*call) for call in calls], {number: TrajectoryTurn(*texts) for number, *texts in turns}, *rest
    )


def _golden_row(golden: GoldenTrial) -> Row:
    turns = tuple(_turn_row(turn) for turn in golden.turns)
    issues = tuple(map(tuple, golden.issues))
    return dict(golden.dimensions), turns, issues, tuple(golden.numbers), tuple(golden.missing), golden.conversation_id


def _turn_row(turn: TurnResult) -> Row:
    values = [getattr(turn, name) for name in TurnResult.__match_args__]
    values[_ISSUES] = tuple(map(tuple, turn.issues))
    values[_SCORES] = dict(turn.scores)
    return tuple(values)


def _golden_trial(row: Row) -> GoldenTrial:
    dimensions, turns, issues, *rest = row
    return GoldenTrial(dimensions, list(map(_turn, turns)), _issues(issues), *rest)


def _turn(row: Row) -> TurnResult:
    values = [tuple(value) if isinstance(value, list) else value for value in row]
    values[_ISSUES] = _issues(row[_ISSUES])
    made: Callable[..., TurnResult] = TurnResult
    return made(*values)


def _issues(rows: Sequence[Row]) -> tuple[Issue, ...]:
    return tuple(Issue(*row) for row in rows)


def is_trial_record(trial: Row) -> bool:
    """Whether a trial's row holds its encoded document, rather than its fields."""
    return isinstance(trial[0], bytes)
