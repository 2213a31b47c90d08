"""A record as it was judged apart from the others, before it is known which scenario has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.evaluation.scenario_matcher import ScenarioCandidate
    from evalgate.models.comparison.trajectory import Trajectory
    from evalgate.models.run.run import TraceRef, TrialResult
    from evalgate.models.run.trial_record import TrialRecord
    from evalgate.models.trace.trace import TraceLocation


class CandidateResult(NamedTuple):
    """One scenario that may have the record, and how it stands there.

    `course` is there where it did worse than the baseline and may be the worst of its scenario.
    """

    candidate: ScenarioCandidate
    trial: TrialResult | TrialRecord | None = None
    course: Trajectory | None = None


class Damage(NamedTuple):
    """What stands for a record that can't be judged."""

    trial: TrialResult
    fallback_id: str


class EvaluatedTrace(NamedTuple):
    """One record under each scenario that may have it."""

    source: TraceLocation
    ref: TraceRef
    scenario_id: str | None
    recorded: int | None
    started_at: str | None
    options: Sequence[CandidateResult] = ()
    damage: Damage | None = None
