"""`results.json`, schema `evalgate.results/1`: the frozen, public shape of a finished run.

Reports are rendered only from this document, so that a document written by one job can be checked and
rendered again by another. Fields may be added; none is renamed or removed in this version.
"""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003  the schema is made of these types
from typing import Literal, NotRequired, Required, TypedDict

from evalgate.models.comparison.behaviour import (  # noqa: TC001  the same
    BehaviourDifference,
    PromptChange,
    UnaskedArgument,
)
from evalgate.models.comparison.comparison import CallsDiff, Cause  # noqa: TC001  the same
from evalgate.models.comparison.trajectory import TrajectoryDiff, TrialExample  # noqa: TC001  the same
from evalgate.models.results.results_sections import (  # noqa: TC001  the same
    ApprovalDoc,
    HistoryDoc,
    InputsDoc,
    MutationScoreDoc,
    QuarantineDoc,
    RulesDoc,
    WeakeningDoc,
)
from evalgate.models.results.results_statistics import (  # noqa: TC001  the same
    ComparisonDoc,
    GoldenDoc,
    RoutingDoc,
    StatisticsDoc,
    VariantDoc,
)
from evalgate.models.run.arms import ArmComparison, Confirmation  # noqa: TC001  the same
from evalgate.models.run.bounds import (  # noqa: TC001  the same
    Count,
    Dimension,
    Interval,
    Score,
    ShownText,
    SignedScore,
    Sum,
)
from evalgate.models.run.trial_doc import LocationDoc, TrialDoc  # noqa: TC001  the same


class ReasonDoc(TypedDict, total=False):
    """One reason for the gate's decision."""

    code: Required[str]
    message: Required[str]
    suite: str | None
    scenario: str | None
    variant: str | None
    location: LocationDoc | None


class ChecksDoc(TypedDict):
    """Counts of all assertions on all trials by outcome."""

    passed: int
    failed: int
    not_evaluable: int
    skipped: int
    error: int


class KnownCostDoc(TypedDict):
    """The known part of a cost that is unknown as a whole: its sum, and how many of all trials lack theirs."""

    usd: Sum
    unknown: Count
    trials: Count


class SummaryDoc(TypedDict):
    """Counts and statistics of the run.

    passed + partial + failed + hard_fails + errors + missing + not_evaluable = scenarios. Amounts with an
    unknown part are null. `cost_computed` counts trials whose cost was not recorded; `quarantined` counts
    scenarios that do not block, which the other counts include; `not_measured` counts trials that an outage left
    unmeasured. All three are absent if zero. `trials` counts the measured ones; earlier versions left it out. Score
    and pass rate leave out scenarios without a verdict because of an outage.
    """

    scenarios: Count
    passed: Count
    failed: Count
    partial: Count
    hard_fails: Count
    missing: Count
    errors: Count
    not_evaluable: Count
    skipped: Count
    trials: NotRequired[Count]
    quarantined: NotRequired[Count]
    not_measured: NotRequired[Count]
    regressions: Count
    improvements: Count
    regressed: Count
    broken: Count
    improved: Count
    fixed: Count
    new: Count
    removed: Count
    inconclusive: Count
    score: Score | None
    pass_rate: Score | None
    cost_usd: Sum | None
    cost_computed: NotRequired[Count]
    cost_known: NotRequired[KnownCostDoc]
    latency_p50_s: Sum | None
    latency_p95_s: Sum | None
    total_tokens: Count | None
    checks: ChecksDoc


class ChangedEvaluatorDoc(TypedDict):
    """An evaluator that these suites use and whose version differs from the baseline's."""

    type: str
    before: int
    now: int


class DriftDoc(TypedDict):
    """How a baseline's rules differ from this run's; `found` is the status it would have otherwise.

    `files` are those of suites and settings that changed, at most 20, where the baseline has its own.
    """

    found: str
    suites: bool
    evaluators: list[ChangedEvaluatorDoc]
    files: NotRequired[list[str]]


class BaselineDoc(TypedDict):
    """The baseline of the comparison; `summary` is the baseline's, if one was loaded.

    `drift` is present if the status is `drifted`, `branch` if the baseline was found on GitHub, and
    `target` if the branch that was asked for has none, `off_by` if a setting turned the comparison off, `others` if the
    branch has none of the name `artifact`, but baselines of these names, `runs` if it has none at all, although so many
    runs of the workflow succeeded on it. `legs` is how many legs the matrix of its job had, if that is known. `event`
    and `attempt` are those of its run, unless they are a push and the first.
    """

    status: str
    sha: str | None
    age_seconds: int | None
    path: str | None
    distance: int | None
    summary: SummaryDoc | None
    drift: NotRequired[DriftDoc]
    branch: NotRequired[str]
    target: NotRequired[str]
    off_by: NotRequired[ShownText]
    artifact: NotRequired[str]
    others: NotRequired[list[str]]
    runs: NotRequired[int]
    legs: NotRequired[int]
    event: NotRequired[str]
    attempt: NotRequired[int]


class LostFigureDoc(TypedDict):
    """A figure that the baseline records and `missing` of this run's `trials` do not; `why` is null if unknown."""

    figure: str
    missing: Count
    trials: Count
    why: str | None


class GrownFigureDoc(TypedDict):
    """A mean per trial before and now: of `cost` in USD, of tokens, or of the number of tool calls.

    `figure` is `cost`, `tokens`, `input_tokens`, `output_tokens` or `calls`. `every_trial` is there and true if each of
    several trials has much more than any of the baseline's.
    """

    figure: str
    before: float
    now: float
    every_trial: NotRequired[bool]


class ChangeDoc(TypedDict):
    """How a scenario changed since the baseline; `calls` is present if it does not pass, is worse or calls other tools.

    `test` names the test that gave `p_value`, and `p_corrected` is the p-value corrected for many scenarios, present if
    a policy asks for that. `behaviour` is present if the scenario got worse and the traces of both sides are available,
    `cause` if it is known whether the agent, its model or tools, or rules other than the baseline's caused the change.
    `example` is what the agent did in one trial, of the first scenarios that the baseline lacks and that pass.
    `lost` names figures that are no longer recorded; absent if there are none. `grown` is present if cost or
    tokens grew by half and more. `known_failure` is present if the
    scenario passes on neither side: `same`, `worse`, or `other` if a check fails that passed in the baseline.
    `added_checks` names the checks of a scenario that fails which the baseline's suite lacks; absent if there are none.
    `comes_with` names what the traces record of the agent that the baseline's do not: model, tool definitions, system
    prompt. Without one, `same_parts` names those of the three that all traces of both sides record, of a scenario that
    got worse. `prompts` are the hashes of the system prompt before and now, present if it changed.
    """

    kind: str
    flags: list[str]
    score_delta: SignedScore | None
    reason: str
    increases: list[str]
    previous_verdict: str | None
    p_value: float | None
    test: NotRequired[str | None]
    p_corrected: NotRequired[float | None]
    calls: NotRequired[CallsDiff]
    behaviour: NotRequired[TrajectoryDiff]
    example: NotRequired[TrialExample]
    cause: NotRequired[Cause]
    comes_with: NotRequired[list[str]]
    same_parts: NotRequired[list[str]]
    prompts: NotRequired[list[str]]
    lost: NotRequired[list[LostFigureDoc]]
    grown: NotRequired[list[GrownFigureDoc]]
    known_failure: NotRequired[str]
    added_checks: NotRequired[list[str]]


class ScenarioDoc(TypedDict):
    """One scenario over its trials; `quarantined` is present, and true, if it does not block.

    `n` counts the measured trials, `not_measured` those that an outage left unmeasured; it is absent if zero.
    A golden has `dimensions`, a score or null by name, and `golden` with its result. `differences` is what it does
    otherwise than in the baseline, in all trials of both; absent if nothing is, or if it was not compared. `request`
    is what the user asked for first in the baseline, if there are differences and it is known. `unasked` are arguments
    with another value than was asked for, as long as that is so; absent if there are none. `passes_needed` is how
    many trials must pass, present if some did and some did not, and a pass rate of the suite decides.
    """

    id: str
    variant: str | None
    verdict: str
    score: Score | None
    threshold: float
    n: int
    pass_rate: Score | None
    pass_rate_interval: Interval | None
    dimensions: dict[Dimension, Score | None] | None
    reason: str | None
    location: LocationDoc | None
    change: ChangeDoc | None
    quarantined: NotRequired[bool]
    not_measured: NotRequired[Count]
    passes_needed: NotRequired[Count]
    golden: NotRequired[GoldenDoc]
    differences: NotRequired[list[BehaviourDifference]]
    request: NotRequired[str]
    unasked: NotRequired[list[UnaskedArgument]]
    trials: Sequence[TrialDoc]


class ToolsDoc(TypedDict):
    """Tools of which the suite says that they are look-ups, or change something."""

    lookups: list[str]
    changing: list[str]


class SuiteDoc(TypedDict):
    """One suite; `variants` is empty if its scenarios have none.

    `unmatched` is present if no file matches its globs: the globs, and the folder below which they search.
    `tool_digests` is NAME=DIGEST of each tool that traces define, by their `tools_hash`; absent if none defines any.
    `tools` are those that the suite lists as look-ups or as changing something; absent if it lists none.
    """

    suite: str
    path: str
    verdict: str
    score: Score | None
    unmatched: NotRequired[str]
    scenarios: list[ScenarioDoc]
    variants: NotRequired[list[VariantDoc]]
    figures: NotRequired[StatisticsDoc]
    skills: NotRequired[RoutingDoc]
    tool_digests: NotRequired[dict[str, str]]
    tools: NotRequired[ToolsDoc]


class RemovedDoc(TypedDict):
    """A scenario of the baseline that this run does not have, with its result in the baseline."""

    suite: str
    id: str
    variant: str | None
    verdict: str
    score: Score | None


class UnclaimedDoc(TypedDict):
    """A trace that matches no scenario; `status` is how the run ended, absent if well."""

    suite: str
    path: str
    id: str | None
    scenario_id: str | None
    line: int | None
    record: int | None
    status: NotRequired[str]


class WarningDoc(TypedDict):
    """A warning for readers of the verdict."""

    code: str
    message: str
    where: str | None


class WatchedDoc(TypedDict):
    """The agent's files that suites watch: the beginning of the SHA-256 of each, by its path.

    `changed` are those that are new, gone or other than in the baseline; absent if that does not know them.
    """

    files: dict[str, str]
    changed: NotRequired[list[str]]


class RecordingsDoc(TypedDict):
    """How many recordings of this run are those of the baseline.

    `new_rules` is whether other suites judged them; `is_asked` whether a pull request is judged, whose agent they are
    to show.
    """

    unchanged: Count
    of: Count
    new_rules: bool
    is_asked: bool


class OriginsDoc(TypedDict):
    """How many traces were replayed from cassettes, and how many others were made `elsewhere`: at other commits.

    The baseline's are among neither. `commits` are the first of these commits, in short; `is_asked` as above.
    """

    of: Count
    replayed: Count
    elsewhere: Count
    commits: list[ShownText]
    is_asked: bool


class SelectionDoc(TypedDict):
    """Which scenarios were judged, if not all: those that match one of the patterns, so many of all."""

    patterns: list[ShownText]
    judged: int
    of: int


class ResultsDoc(TypedDict):
    """The whole document; `command` repeats the run in a shell, `fetch_command` downloads its baseline before.

    `figures` are the statistics of the whole run; `comparison` and `weakenings` are present if there was a
    baseline, `quarantines` if the suites have any, `history` if a store is used, `selection` if only some
    scenarios were judged, `mutations` if they were requested and suites changed, `variant_comparisons` if a policy
    compares variants, `confirmation` if trials were recorded again that all together decide.
    `prompt_changes` is how system prompts differ, present if scenarios have another one and both sides keep its text.
    `recordings` is present if some are those of the baseline, `origins` if some were replayed or made at another
    commit, `watched` if suites watch files of the agent.
    In a workflow `inputs` are those that decide, `leg` names the values of the job's matrix, `legs` is how many it has,
    and `working_directory` the folder that paths are relative to; each may be absent.
    """

    schema: Literal["evalgate.results/1"]
    evalgate_version: str
    created_at: str
    commit: str | None
    verdict: Literal["pass", "fail", "cannot_judge", "invalid"]
    exit_code: int
    report_only: bool
    reasons: list[ReasonDoc]
    summary: SummaryDoc | None
    figures: NotRequired[StatisticsDoc]
    baseline: BaselineDoc | None
    comparison: NotRequired[ComparisonDoc]
    suites: list[SuiteDoc]
    removed: list[RemovedDoc]
    unclaimed: list[UnclaimedDoc]
    warnings: list[WarningDoc]
    approvals: list[ApprovalDoc]
    selection: NotRequired[SelectionDoc]
    quarantines: NotRequired[list[QuarantineDoc]]
    history: NotRequired[HistoryDoc]
    weakenings: NotRequired[list[WeakeningDoc]]
    mutations: NotRequired[list[MutationScoreDoc]]
    variant_comparisons: NotRequired[list[ArmComparison]]
    confirmation: NotRequired[Confirmation]
    rules: NotRequired[RulesDoc]
    prompt_changes: NotRequired[list[PromptChange]]
    leg: NotRequired[ShownText]
    legs: NotRequired[int]
    working_directory: NotRequired[ShownText]
    recordings: NotRequired[RecordingsDoc]
    origins: NotRequired[OriginsDoc]
    watched: NotRequired[WatchedDoc]
    inputs: NotRequired[InputsDoc]
    command: str | None
    fetch_command: NotRequired[str]
