"""How a run differs from its baseline, scenario by scenario; averages alone never decide anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from evalgate.models.run import Verdict

ChangeKind = Literal[
    "unchanged", "improved", "regressed", "broken", "fixed", "new", "removed", "inconclusive"
]
ChangeFlag = Literal["flaky", "single_trial", "approved", "quarantined"]
BaselineStatus = Literal["exact", "ancestor", "latest", "drifted", "given", "expired", "unreachable", "none"]

REGRESSIONS: frozenset[ChangeKind] = frozenset({"regressed", "broken"})
IMPROVEMENTS: frozenset[ChangeKind] = frozenset({"improved", "fixed"})


class ScenarioKey(NamedTuple):
    """What makes a scenario the same one in two runs."""

    suite: str
    id: str
    variant: str | None


@dataclass(slots=True)
class Standing:
    """One scenario of one run, reduced to what a comparison needs.

    Lists hold one entry a trial; a part that is unknown makes its mean None.
    """

    key: ScenarioKey
    verdict: Verdict
    score: float | None
    passed: list[bool] = field(default_factory=list)
    scores: list[float | None] = field(default_factory=list)
    costs: list[float | None] = field(default_factory=list)
    latencies: list[float | None] = field(default_factory=list)
    tokens: list[int | None] = field(default_factory=list)


@dataclass(slots=True)
class Change:
    """What became of one scenario. `increases` names cost, latency or tokens over their limit."""

    kind: ChangeKind
    reason: str
    score_delta: float | None = None
    flags: list[ChangeFlag] = field(default_factory=list)
    increases: list[str] = field(default_factory=list)
    previous_verdict: Verdict | None = None
    p_value: float | None = None


@dataclass(slots=True)
class BaselineInfo:
    """Which baseline a run was compared with, and how it was found."""

    status: BaselineStatus
    sha: str | None = None
    age_seconds: int | None = None
    path: str | None = None
    distance: int | None = None  # commits between the ancestor used and the commit wanted


@dataclass(slots=True)
class Comparison:
    """Changes by scenario key, and what the baseline has that the run has not."""

    changes: dict[ScenarioKey, Change]
    removed: list[Standing]
