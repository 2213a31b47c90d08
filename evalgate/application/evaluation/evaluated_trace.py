"""A record as it was judged apart from the others, before it is known which scenario has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.evaluation.scenario_matcher import Candidate
    from evalgate.models.comparison.trajectory import Course
    from evalgate.models.run.run import TraceRef, TrialResult
    from evalgate.models.run.trial_record import ToldTrial
    from evalgate.models.trace.trace import Source


class Option(NamedTuple):
    """One scenario that may have the record, and how it stands there.

    `course` is there where it did worse than the baseline and may be the worst of its scenario.
    """

    candidate: Candidate
    trial: TrialResult | ToldTrial | None = None
    course: Course | None = None


class Damage(NamedTuple):
    """What stands for a record that can't be judged."""

    trial: TrialResult
    fallback_id: str


class JudgedRecord(NamedTuple):
    """One record under each scenario that may have it."""

    source: Source
    ref: TraceRef
    scenario_id: str | None
    recorded: int | None
    started_at: str | None
    options: Sequence[Option] = ()
    damage: Damage | None = None
