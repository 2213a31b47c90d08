"""The baseline run as a comparison reads it: scenarios with their trials, single assertions only on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.models.comparison.behaviour import UnaskedArgument  # noqa: TC001  needed for decoding
from evalgate.models.run.bounds import Amount, Score, Tokens  # noqa: TC001  the same
from evalgate.models.run.run import FAILED_OUTCOMES
from evalgate.models.run.trial_doc import AgentParts, PricingDoc, Recorded
from evalgate.models.run.trials import identify_failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.results.results import ResultsDoc, SummaryDoc
    from evalgate.models.results.results_sections import ApprovalDoc, InputsDoc

TracePosition = tuple[str, int | None, int | None]
"""Path, line and record from which a trace was read; a baseline identifies its traces by these."""


class BaselineTrace(Struct, frozen=True):
    """The trace of a trial: where it was read, what it records of the agent, and when and by what it was recorded."""

    path: str
    line: int | None
    record: int | None
    model: str | None = None
    tools_hash: str | None = None
    prompt_hash: str | None = None
    sha256: str | None = None
    status: str | None = None
    digest: int | None = None
    skills: str | None = None
    asked: str | None = None
    prompt_dates: str | None = None
    recorded_at: str | None = None
    recording: str | None = None


class BaselineCheck(Struct, frozen=True, gc=False):
    """One assertion; `digest` is None if it passed, and in documents of earlier versions."""

    outcome: str
    required: bool | str = False
    digest: str | None = None


class BaselineTrial(Struct, frozen=True):
    """One trial, with what is known of its checks; `pricing` is set if its cost was computed."""

    trial: int
    status: str
    score: Score | None
    cost_usd: Amount | None
    latency_seconds: Amount | None
    tool_calls: list[str]
    trace: BaselineTrace
    total_tokens: Tokens | None = None
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    pricing: PricingDoc | None = None
    assertions: tuple[BaselineCheck, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.status == "passed"

    @property
    def position(self) -> TracePosition:
        """Where its trace was read."""
        return self.trace.path, self.trace.line, self.trace.record

    @property
    def recorded(self) -> Recorded:
        """What of its trace a comparison needs; an earlier version did not keep how the run ended."""
        return Recorded(self.trace.status is None, self.trace.model is not None, self.trace.tools_hash is not None)

    @property
    def agent(self) -> AgentParts:
        """What its trace records of the agent."""
        trace = self.trace
        prompt = trace.prompt_hash, trace.skills, trace.asked, trace.prompt_dates
        return AgentParts(trace.model, trace.tools_hash, *prompt)


class BaselineEntry(Struct, frozen=True):
    """One scenario; `location` is None if it was made from a trace that matches no entry of its suite.

    `unasked` are arguments with another value than was asked for.
    """

    id: str
    verdict: str
    score: Score | None
    trials: list[BaselineTrial]
    variant: str | None = None
    location: Any = None
    reason: str | None = None
    unasked: tuple[UnaskedArgument, ...] = ()

    @property
    def measured(self) -> list[BaselineTrial]:
        """The trials that no outage ended."""
        return [trial for trial in self.trials if trial.status != "not_measured"]

    @property
    def failed_required(self) -> frozenset[str] | None:
        """The failures of required checks as `identify_failure` has them; None if an earlier version left them out.

        A check that failed is no longer a new failure where it can't be evaluated.
        """
        return self._find_failed(only_required=True)

    @property
    def failed_checks(self) -> frozenset[str] | None:
        """The same of all checks."""
        return self._find_failed(only_required=False)

    def _find_failed(self, *, only_required: bool) -> frozenset[str] | None:
        failed = [
            each
            for trial in self.trials
            for each in trial.assertions
            if each.outcome in FAILED_OUTCOMES and (each.required or not only_required)
        ]
        known: set[str] = set()
        for each in failed:
            if each.digest is None:
                return None
            known |= {identify_failure(each.digest, each.outcome), identify_failure(each.digest, "not_evaluable")}
        return frozenset(known)

    @property
    def is_unreadable(self) -> bool:
        """Whether it was made from a trace that could not be read."""
        return self.verdict == "ERROR" and self.location is None

    @property
    def is_absent(self) -> bool:
        """Whether it counts as absent because an outage left it unmeasured."""
        return self.verdict == "NOT_EVALUABLE" and any(trial.status == "not_measured" for trial in self.trials)


class BaselineSuite(Struct, frozen=True):
    """One suite with its scenarios."""

    suite: str
    scenarios: list[BaselineEntry]
    tool_digests: dict[str, str] = {}
    path: str = ""


class BaselineRun(Struct, frozen=True):
    """The baseline run; of several scenarios with one key, `entries` has the last one.

    `suite_sizes` counts the scenarios by suite. `fingerprint` identifies the results. `document` is set only if
    single assertions were requested. `watched` are digests of the agent's files by path, None if it has none.
    `tool_digests` are those of all suites. `inputs` are those of its workflow, None if it had none or is older.
    `suite_files` are the paths of suites by name, in a workflow from the workspace.
    """

    created_at: str
    commit: str | None
    summary: SummaryDoc | None
    approvals: Sequence[ApprovalDoc]
    suite_sizes: Mapping[str, int]
    entries: Mapping[ScenarioKey, BaselineEntry]
    fingerprint: str = ""
    document: ResultsDoc | None = None
    watched: Mapping[str, str] | None = None
    tool_digests: Mapping[str, str] = {}
    inputs: InputsDoc | None = None
    suite_files: Mapping[str, str] = {}

    def find_trials(self, key: ScenarioKey) -> Sequence[BaselineTrial]:
        """The measured trials of a scenario, empty if there is no such scenario."""
        entry = self.entries.get(key)
        return () if entry is None else entry.measured

    def find_unreadable_keys(self) -> frozenset[ScenarioKey]:
        """Keys of scenarios made from a trace that could not be read."""
        return frozenset(key for key, entry in self.entries.items() if entry.is_unreadable)
