"""How a run differs from its baseline, scenario by scenario; averages alone never decide anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.comparison.cause import Cause
    from evalgate.models.comparison.trajectory import Behaviour
    from evalgate.models.run.run import Verdict

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
class ScenarioOutcome:
    """One scenario of one run, reduced to what a comparison needs.

    Lists hold one entry a trial; a part that is unknown makes its mean None.
    """

    key: ScenarioKey
    verdict: Verdict
    score: float | None
    passed: Sequence[bool] = field(default_factory=list)
    scores: Sequence[float | None] = field(default_factory=list)
    costs: Sequence[float | None] = field(default_factory=list)
    latencies: Sequence[float | None] = field(default_factory=list)
    tokens: Sequence[int | None] = field(default_factory=list)
    trials: Sequence[int] = field(default_factory=list)  # their numbers


class CallsCompared(NamedTuple):
    """Tool calls by name, in order: of a trial of the baseline, and of one of this run."""

    trial_before: int
    before: list[str]
    trial: int
    now: list[str]


@dataclass(slots=True)
class Change:
    """What became of one scenario. `increases` names cost, latency or tokens over their limit.

    `calls` is told where the scenario is not well and both sides have trials, `behaviour` where it got worse
    and both recordings are at hand, `cause` where the run was judged by other rules than the baseline.
    `p_corrected` is the p-value after the policy's correction, None where it has none.
    """

    kind: ChangeKind
    reason: str
    score_delta: float | None = None
    flags: list[ChangeFlag] = field(default_factory=list)
    increases: list[str] = field(default_factory=list)
    previous_verdict: Verdict | None = None
    p_value: float | None = None
    p_corrected: float | None = None
    calls: CallsCompared | None = None
    behaviour: Behaviour | None = None
    cause: Cause | None = None


class ChangedEvaluator(NamedTuple):
    """A type of check whose version is another than in the baseline."""

    type: str
    before: int
    now: int


class Drift(NamedTuple):
    """In what a baseline was judged otherwise than this run, and the status it has but for that."""

    found: BaselineStatus
    suites: bool  # the suites, or the project, say something else today
    evaluators: Sequence[ChangedEvaluator]  # of the types that these suites use


@dataclass(slots=True)
class BaselineInfo:
    """Which baseline a run was compared with, and how it was found. `drift` is known where it drifted."""

    status: BaselineStatus
    sha: str | None = None
    age_seconds: int | None = None
    path: str | None = None
    distance: int | None = None  # commits between the ancestor used and the commit wanted
    drift: Drift | None = None


class Evidence(NamedTuple):
    """How much the comparison as a whole can tell from noise.

    `compared` scenarios were evaluated on both sides: `tested` of them have trials enough there for a test,
    `single_trial` have one trial on a side. `expected_false_alarms` is at most how many of the tested ones
    chance alone would call broken or fixed; None where none is tested.
    """

    compared: int
    tested: int
    single_trial: int
    expected_false_alarms: float | None


@dataclass(slots=True)
class Comparison:
    """Changes by scenario key, and what the baseline has that the run has not.

    `before` holds how the scenarios of the run stood in the baseline, by their key in the run; `trials` how
    many trials those had there, and have now; `now` how every scenario of the run stands, until its
    figures are made.
    """

    changes: dict[ScenarioKey, Change]
    removed: list[ScenarioOutcome]
    before: dict[ScenarioKey, ScenarioOutcome] = field(default_factory=dict)
    trials: dict[ScenarioKey, tuple[int, int]] = field(default_factory=dict)
    evidence: Evidence | None = None
    now: Mapping[ScenarioKey, ScenarioOutcome] = field(default_factory=dict)
    critical_before: Mapping[str, int] = field(default_factory=dict)  # issues of goldens, by suite
