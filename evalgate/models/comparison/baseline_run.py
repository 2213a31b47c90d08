"""The baseline run as a comparison reads it: columns of values, single assertions only on request."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.run import AgentParts
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.results.results import PricingDoc, ResultsDoc, SummaryDoc
    from evalgate.models.results.results_sections import ApprovalDoc
    from evalgate.models.results.standings import ScenarioColumns, StandingsDoc, SuiteStandings, TrialColumnsDoc

T = TypeVar("T")
TracePosition = tuple[str, int | None, int | None]
"""Path, line and record from which a trace was read; a baseline identifies its traces by these."""


class BaselineTrial(NamedTuple):
    """One trial, without its assertions."""

    trial: int
    passed: bool
    score: float | None
    cost_usd: float | None
    latency_seconds: float | None
    total_tokens: int | None
    tool_calls: Sequence[str]
    position: TracePosition
    agent: AgentParts | None = None


@dataclass(frozen=True, slots=True)
class TrialColumns:
    """The trials of all scenarios, in order.

    `pricing` is None if no cost had to be computed, `agents` if no trace records model, tools or prompt.
    """

    numbers: list[int]
    passed: list[bool]
    scores: list[float | None]
    costs: list[float | None]
    latencies: list[float | None]
    tokens: list[int | None]
    calls: Sequence[Sequence[str]]
    paths: Sequence[str]
    lines: Sequence[int | None]
    records: Sequence[int | None]
    pricing: Sequence[PricingDoc | None] | None = None
    agents: Sequence[AgentParts] | None = None


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """The baseline run. `keys`, `verdicts` and `scores` have one row per scenario.

    `trial_starts` has the index of each scenario's first trial. `row_by_key` maps a key to its row, the last
    one if several scenarios have the key. `unreadable_rows` are scenarios made from a trace that could not be
    read, `unmeasured_rows` those that count as absent because of an outage. `fingerprint` identifies the results.
    `document` is set only if single assertions were requested.
    """

    created_at: str
    commit: str | None
    summary: SummaryDoc | None
    approvals: Sequence[ApprovalDoc]
    suites: Sequence[SuiteStandings]
    keys: Sequence[ScenarioKey]
    row_by_key: Mapping[ScenarioKey, int]
    verdicts: Sequence[str]
    scores: Sequence[float | None]
    trial_starts: Sequence[int]  # one more than there are scenarios
    unreadable_rows: Sequence[int]
    unmeasured_rows: Sequence[int]
    trials: TrialColumns
    fingerprint: str = ""
    document: ResultsDoc | None = None

    def find_trials(self, key: ScenarioKey) -> Sequence[BaselineTrial]:
        """The trials of a scenario, empty if there is no such scenario."""
        row = self.row_by_key.get(key)
        if row is None:
            return ()
        trials = self.trials
        return [
            BaselineTrial(
                *(trials.numbers[i], trials.passed[i], trials.scores[i], trials.costs[i], trials.latencies[i]),
                *(trials.tokens[i], trials.calls[i], (trials.paths[i], trials.lines[i], trials.records[i])),
                agent=None if trials.agents is None else trials.agents[i],
            )
            for i in range(self.trial_starts[row], self.trial_starts[row + 1])
        ]

    def find_unreadable_keys(self) -> frozenset[ScenarioKey]:
        """Keys of scenarios made from a trace that could not be read."""
        return frozenset(self.keys[row] for row in self.unreadable_rows)


def build_baseline_run(
    standings: StandingsDoc, document: ResultsDoc | None = None, fingerprint: str = ""
) -> BaselineRun:
    """Builds the run from validated standings; `document` is the results document they were made from."""
    texts, scenarios = standings["texts"], standings["scenarios"]
    keys = _build_keys(standings["suites"], scenarios)
    return BaselineRun(
        *(standings["created_at"], standings["commit"], standings["summary"], standings["approvals"]),
        standings["suites"],
        keys,
        dict(zip(keys, range(len(keys)), strict=True)),
        [texts[word] for word in scenarios["verdict"]],
        _expand_column(scenarios["score"], len(scenarios["id"])),
        [0, *accumulate(scenarios["n"])],
        scenarios["unread"],
        scenarios.get("unmeasured", []),
        _build_trials(standings["trials"], texts, standings["calls"], standings.get("agents", [])),
        fingerprint,
        document,
    )


def _build_keys(suites: Sequence[SuiteStandings], scenarios: ScenarioColumns) -> list[ScenarioKey]:
    ids = scenarios["id"]
    names = (suite["suite"] for suite in suites for _ in range(suite["scenarios"]))
    return list(map(ScenarioKey._make, zip(names, ids, _expand_column(scenarios["variant"], len(ids)), strict=True)))


def _build_trials(
    columns: TrialColumnsDoc,
    texts: Sequence[str],
    calls: Sequence[Sequence[str]],
    agents: Sequence[Sequence[str | None]],
) -> TrialColumns:
    count, parts = len(columns["trial"]), [AgentParts(*each) for each in agents]
    return TrialColumns(
        columns["trial"],
        columns["passed"],
        _expand_column(columns["score"], count),
        _expand_column(columns["cost_usd"], count),
        _expand_column(columns["latency_seconds"], count),
        _expand_column(columns["total_tokens"], count),
        [calls[position] for position in columns["tool_calls"]],
        [texts[position] for position in columns["path"]],
        _expand_column(columns["line"], count),
        _expand_column(columns["record"], count),
        columns.get("pricing"),
        [parts[position] for position in columns["agent"]] if "agent" in columns else None,
    )


def _expand_column(values: list[T | None] | None, count: int) -> list[T | None]:
    return [None] * count if values is None else values
