"""The comparison of a run with its baseline, scenario by scenario; averages alone decide nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, field

from evalgate.models.comparison.trajectory import SIDES
from evalgate.models.run.bounds import CallNames, Word  # noqa: TC001  needed for decoding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.comparison.behaviour import BehaviourDifference, PromptChange, UnaskedArgument
    from evalgate.models.comparison.trajectory import TrajectoryDiff, TrialExample
    from evalgate.models.run.run import ScenarioResult, SuiteResult, Verdict
    from evalgate.models.run.trial_doc import Recorded

CauseKind = Literal[
    "agent",
    "model_or_tools",
    "rules_stricter",
    "rules_looser",
    "both",
    "together",
    "masked",
    "outgrown",
    "unknown",
]
"""The cause of a scenario's change of verdict.

agent: the same change under either rules. model_or_tools: the same, and the traces record another model or
other tool definitions than the baseline's. rules_stricter, rules_looser: the agent did not change. both:
either change alone would have caused it. together: only both together cause it. masked: it passes, but would
fail by the baseline's rules. outgrown: it fails, but would pass by the baseline's rules. unknown: it changed,
and the data to find the cause is missing.
"""


class Cause(Struct, frozen=True):
    """The cause, a CauseKind, in one sentence; None if unknown.

    The two verdicts are those of the run's traces by the baseline's rules, and of the baseline's traces by the run's
    rules; None if unknown.
    """

    kind: Word
    message: str
    now_by_old_rules: Word | None
    before_by_new_rules: Word | None


MODEL, OTHER_TOOLS, OTHER_PROMPT = "model ", "changed tool definitions", "a changed system prompt"


class AgentChange(NamedTuple):
    """What the traces of a scenario record of the agent that those of the baseline do not.

    `models` is `old -> new`, None if the model is the same or unknown. `prompts` are the hashes of the system prompt
    before and now, None if it is the same or unknown. `skills` are in words already, and so are
    `named_tools`, if it is known which differ; `tool_sides` are the names of these tools on each side. `asked` are the
    settings of requests that differ, and the address, with both values.
    """

    models: str | None
    tools: bool
    prompts: tuple[str, str] | None
    skills: tuple[str, ...] = ()
    named_tools: tuple[str, ...] = ()
    tool_sides: tuple[str, str] = ("", "")
    asked: tuple[tuple[str, str, str], ...] = ()

    @property
    def has_other_model_or_tools(self) -> bool:
        """Whether more than the system prompt and the skills differ."""
        return self.models is not None or self.tools

    @property
    def items(self) -> list[str]:
        """Each difference in a few words."""
        return [
            *([f"{MODEL}{self.models}"] if self.models else []),
            *((self.named_tools or (OTHER_TOOLS,)) if self.tools else ()),
            *([OTHER_PROMPT] if self.prompts else []),
            *self.skills,
            *(f"{name} {before} -> {now}" for name, before, now in self.asked),
        ]


ChangeKind = Literal["unchanged", "improved", "regressed", "broken", "fixed", "new", "removed", "inconclusive"]
KnownFailure = Literal["same", "worse", "other"]
"""How a failure compares with the one that the baseline has: the same or less, worse, or of another check."""
ChangeFlag = Literal["flaky", "single_trial", "few_trials", "approved", "quarantined"]
BaselineStatus = Literal[
    "exact", "ancestor", "latest", "drifted", "given", "expired", "refused", "unreachable", "none", "off"
]

BASELINE_REFUSED = "baseline"
"""The code of a warning that says why a baseline was refused, or could not be fetched."""

MORE_TRIALS = "record at least "
"""The beginning of the advice at the end of a change's reason that was not decided."""
SINGLE_TRIAL_CAVEAT = ", single trial: may be noise"
"""The end of a change's reason if it is flagged `single_trial`; reports state it once for all."""

NOT_MEASURED = "not measured"
"""The reason of a change that an outage leaves open."""
UNJUDGED_BEFORE = "could not be judged in the baseline"
"""How the reason of a change begins of which nothing is known but its end."""
REGRESSIONS: frozenset[ChangeKind] = frozenset({"regressed", "broken"})
IMPROVEMENTS: frozenset[ChangeKind] = frozenset({"improved", "fixed"})


class ScenarioKey(NamedTuple):
    """Identifies a scenario across runs."""

    suite: str
    id: str
    variant: str | None

    @property
    def spellings(self) -> set[str]:
        """Its name as people write it, in short, and as reports show it."""
        short = [self.id] if self.variant is None else [self.id, self.variant]
        return {joint.join(parts) for joint in ("/", " / ") for parts in (short, [self.suite, *short])}


def list_scenarios(suites: Iterable[SuiteResult]) -> list[tuple[ScenarioKey, ScenarioResult]]:
    """The scenarios of suites, each with its key."""
    return [(ScenarioKey(suite.name, each.id, each.variant), each) for suite in suites for each in suite.scenarios]


class ScenarioOutcome(Struct):
    """One scenario of one run, reduced to what a comparison needs.

    Lists have one entry per measured trial; an unknown entry makes the mean None. `unmeasured` counts the others.
    """

    key: ScenarioKey
    verdict: Verdict
    score: float | None
    passed: Sequence[bool] = field(default_factory=list)
    scores: Sequence[float | None] = field(default_factory=list)
    costs: Sequence[float | None] = field(default_factory=list)
    latencies: Sequence[float | None] = field(default_factory=list)
    tokens: Sequence[int | None] = field(default_factory=list)
    trials: Sequence[int] = field(default_factory=list)  # the numbers of the trials
    unmeasured: int = 0
    recorded: Sequence[Recorded] = field(default_factory=list)
    digests: Sequence[int | None] = field(default_factory=list)
    failed_required: frozenset[str] | None = None  # digests of required checks that did not pass; None if unknown
    cost_origins: Sequence[str | None] | None = None  # how each cost was obtained, if not all of both sides were alike

    @property
    def is_unmeasured(self) -> bool:
        """Whether it has no verdict because an outage left too few of its trials measured."""
        return self.unmeasured > 0 and self.verdict == "NOT_EVALUABLE"


NO_USAGE, NO_PRICE = "usage is missing", "the traces record none, and no price is known for their model"
NO_MODEL = "the traces record none, nor a model whose price is known"
"""Why a cost is not known any more."""


class LostFigure(NamedTuple):
    """A figure that the baseline records of a scenario and `missing` of the `trials` of this run do not, and why."""

    name: str
    missing: int
    trials: int
    why: str | None = None

    @property
    def is_gone(self) -> bool:
        """Whether no trial records it."""
        return self.missing == self.trials

    @property
    def is_of_agent(self) -> bool:
        """Whether `model_changed` compares it."""
        return self.name in ("model", "tool definitions")


GREAT_GROWTH = 0.5
"""From which growth on a figure is emphasized, and named in the heading."""


class GrownFigure(NamedTuple):
    """A mean of a scenario's trials in the baseline and now: a cost or tokens that grew much, or what explains that.

    `every_trial`: it is much more in each of several trials than in any of the baseline's, which is not chance.
    """

    figure: str
    before: float
    now: float
    every_trial: bool = False


class RecordingCount(NamedTuple):
    """How many recordings there are, how many of them are those of the baseline, and how many may be.

    One that was replayed, or that a version before judged, does not say which recording it is.
    """

    unchanged: int
    of: int
    unknown: int = 0

    @property
    def is_old(self) -> bool:
        """Whether nothing was recorded since the baseline."""
        return 0 < self.of == self.unchanged


class CallsDiff(Struct, frozen=True, rename=SIDES):
    """Names of tool calls, in order, of a trial of the baseline and of the worst one of this run."""

    trial_before: int
    baseline: CallNames
    trial: int
    current: CallNames


class Change(Struct):
    """How one scenario changed. `increases` names cost, latency or tokens that grew over their limit.

    `calls` is set if the scenario does not pass or got worse and both sides have trials, `trajectory_diff` if
    it got worse and both traces are available, `cause` if the run was judged by other rules than the
    baseline or the agent's model, tools or prompt changed, and `agent` if they did; else `same_parts` names those of
    them that all traces of both sides record, of a scenario that got worse. `p_corrected` is the p-value
    after the policy's correction, None without one. `lost` names figures that are no longer recorded.
    `grown` has cost, all tokens, those of input and output, and calls if one of the first two grew much.
    `example` is a trial of a new scenario that passes.
    `added_checks` are names of checks that the baseline's suite lacks, of a scenario that fails.
    `trials_needed` a side would decide an inconclusive one; None if it was decided, or more than 64 would.
    """

    kind: ChangeKind
    reason: str
    score_delta: float | None = None
    flags: list[ChangeFlag] = field(default_factory=list)
    increases: list[str] = field(default_factory=list)
    previous_verdict: Verdict | None = None
    previously_failed: frozenset[str] | None = None  # digests of required checks that did not pass in the baseline
    test: str | None = None
    p_value: float | None = None
    p_corrected: float | None = None
    calls: CallsDiff | None = None
    trajectory_diff: TrajectoryDiff | None = None
    example: TrialExample | None = None
    cause: Cause | None = None
    agent: AgentChange | None = None
    same_parts: Sequence[str] = ()
    prompts: tuple[str, str] | None = None  # hashes of the system prompt before and now, if it changed
    differences: Sequence[BehaviourDifference] = ()
    unasked: Sequence[UnaskedArgument] = ()  # arguments with another value than was asked for, since any run
    request: str | None = (
        None  # what the user asked for first in the baseline, where there are differences; not redacted
    )
    lost: Sequence[LostFigure] = ()
    grown: Sequence[GrownFigure] = ()
    trials_needed: int | None = None
    added_checks: Sequence[str] = ()
    known_failure: KnownFailure | None = None  # set if the scenario passes on neither side


class ChangedEvaluator(NamedTuple):
    """An evaluator whose version differs from the baseline's."""

    type: str
    baseline_version: int
    version: int


class BaselineDrift(NamedTuple):
    """How the rules of a baseline differ from this run's, and the status it would have otherwise."""

    original_status: BaselineStatus
    has_changed_suites: bool  # whether the suites or the project changed
    evaluators: Sequence[ChangedEvaluator]  # only evaluators that these suites use
    changed_files: Sequence[str] = ()  # of suites, and of the project with its settings, where they are known


class BaselineInfo(Struct):
    """Which baseline a run was compared with, and how it was found; `drift` is set if it drifted.

    `problem` is why it could not be fetched or was refused, `off_by` the setting that turned the comparison off.
    `run_id`, `artifact` and `branch` are those of a downloaded one, `target` is the branch that was asked for, if that
    one has none, and `others` are then names of its baselines, but for `artifact`, which was asked for. If it has no
    baseline at all, `runs` is how many runs of the workflow should have left one. `legs` is how many its job had,
    `event` what started its run, and `attempt` how often that was begun.
    """

    status: BaselineStatus
    sha: str | None = None
    age_seconds: int | None = None
    path: str | None = None
    distance: int | None = None  # commits between the ancestor used and the requested commit
    drift: BaselineDrift | None = None
    problem: str | None = None
    run_id: int | None = None
    artifact: str = ""
    branch: str = ""
    target: str = ""
    off_by: str = ""
    others: Sequence[str] = ()
    runs: int = 0
    legs: int = 0
    event: str = ""
    attempt: int = 1


class StatisticalPower(NamedTuple):
    """How well the comparison as a whole can distinguish changes from noise.

    `compared` scenarios were evaluated on both sides: `tested` of them have enough trials on both for a test,
    `single_trial` have a single trial on a side. `expected_false_alarms` bounds how many of the tested ones
    chance alone would call broken or fixed; None if none was tested.
    """

    compared: int
    tested: int
    single_trial: int
    expected_false_alarms: float | None


class Comparison(Struct):
    """Changes by scenario key, and scenarios of the baseline that the run no longer has.

    `baseline_outcomes` has the baseline's outcomes by the scenario's key in the run; `trial_counts` the
    numbers of trials measured in the baseline and recorded now; `outcomes` this run's outcomes, which are dropped
    once its statistics are computed; `unrecorded` the suites of the run that need traces and have none;
    `judged_before` is false if the baseline has scenarios and judged none of them.
    """

    changes: dict[ScenarioKey, Change]
    removed: list[ScenarioOutcome]
    baseline_outcomes: dict[ScenarioKey, ScenarioOutcome] = field(default_factory=dict)
    trial_counts: dict[ScenarioKey, tuple[int, int]] = field(default_factory=dict)
    power: StatisticalPower | None = None
    outcomes: Mapping[ScenarioKey, ScenarioOutcome] = field(default_factory=dict)
    baseline_critical_issues: Mapping[str, int] = field(default_factory=dict)  # numbers of golden issues, by suite
    unrecorded: frozenset[str] = frozenset()
    judged_before: bool = True
    recordings: Mapping[str, RecordingCount] = field(default_factory=dict)  # by suite
    behaviour_compared: int = 0  # scenarios whose behaviour was compared, trace by trace
    prompt_changes: Sequence[PromptChange] = ()
