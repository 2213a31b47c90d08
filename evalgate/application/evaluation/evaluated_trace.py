"""One trace judged under every candidate scenario, before one of them is chosen."""

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
    """One candidate scenario, and the trial judged under it.

    `trajectory` is set if it did worse than the baseline and may be the worst of its scenario.
    """

    candidate: ScenarioCandidate
    trial: TrialResult | TrialRecord | None = None
    trajectory: Trajectory | None = None


class Damage(NamedTuple):
    """The result for a record that can't be judged."""

    trial: TrialResult
    fallback_id: str


class EvaluatedTrace(NamedTuple):
    """One record judged under each candidate scenario."""

    source: TraceLocation
    ref: TraceRef
    scenario_id: str | None
    recorded: int | None
    started_at: str | None
    candidates: Sequence[CandidateResult] = ()
    damage: Damage | None = None
