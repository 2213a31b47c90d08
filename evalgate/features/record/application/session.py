"""One recording: runs the agent for each trial, gives its requests to the trials they name, and closes these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalgate.errors import InvalidInput, SettingError
from evalgate.features.record.application.agent_environ import AgentFacts, base_url, build_environ
from evalgate.features.record.application.caps import Cap, CapLimits
from evalgate.features.record.application.evidence import read_own_trace
from evalgate.features.record.application.outcome import TrialOutcome
from evalgate.features.record.application.plan import MAX_TRIALS, fill_command, require_valid
from evalgate.features.record.application.run_state import build_state
from evalgate.features.record.application.trial_writer import CodeVersion, Outputs, TrialWriter
from evalgate.features.record.application.trials import CacheRules, RecordedTrial
from evalgate.features.record.models.run import AgentEnd
from evalgate.measures.redaction.redact import add_project_secrets, get_project_secrets, hide_secrets

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from evalgate.features.record.application.addresses import Addresses
    from evalgate.features.record.application.plan import PlannedTrial
    from evalgate.features.record.models.cassette import ReplayNote
    from evalgate.features.record.models.exchange import CallCost, Exchange, TrialId
    from evalgate.features.record.models.run import TrialSpans
    from evalgate.features.record.models.state import Snapshot
    from evalgate.features.record.ports import OtlpReceiver, RecordingServer, RunningAgent, StateSource, TrialRecording

LONGEST_FLUSH = 10.0
MAX_NAMED = 5
"""Files of a scenario that a warning names."""
WHEN = "EVALGATE_STATE"
"""The variable that says to the state command whether the run is still to come."""
GRPC = (
    "warning: a program tried HTTP/2, which this server does not speak, so what it sent is missing"
    " (an exporter by gRPC needs OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf)"
)


class RecordRequest(Struct, frozen=True):
    """What to record: a command, with the environment of this process and the variables in `extra`.

    `owns_folders`: what other recordings wrote of a scenario is deleted when its agent starts.
    `flush` and `timeout` are seconds; `secrets` are values that are redacted; `version.agent_hash` is each trial's.
    """

    command: Sequence[str]
    environ: Mapping[str, str]
    version: CodeVersion
    providers: Sequence[str] = ()
    extra: Mapping[str, str] = {}
    flush: float = 1.0
    timeout: float = 600.0
    rules: CacheRules = CacheRules()
    secrets: frozenset[str] = frozenset()
    owns_folders: bool = False
    limits: CapLimits = CapLimits()
    measure_cost: Callable[[Exchange], CallCost] | None = None


class RecordingTools(Struct, frozen=True):
    """What a recording works with; `start_server` accepts the requests that wait in the socket already."""

    start_agent: Callable[[Sequence[str], Mapping[str, str]], Awaitable[RunningAgent]]
    start_server: Callable[[RecordingSession], Awaitable[RecordingServer]]
    receiver: OtlpReceiver | None
    outputs: Outputs
    state: StateSource | None = None


class RecordingSession:
    """One recording; implements `TrialList` for the agent."""

    def __init__(self, request: RecordRequest, tools: RecordingTools, addresses: Addresses) -> None:
        self._request, self._tools, self.addresses = request, tools, addresses
        self._secrets: set[str] = set()
        self._hide_credentials([*request.secrets])
        self._rules = replace(
            request.rules, hide_addresses=addresses.remove_from, hide_credentials=self._hide_credentials
        )
        self._writer = TrialWriter(tools.outputs, self._rules.mode, addresses.remove_from)
        self._version = request.version
        self._trials: dict[TrialId, tuple[RecordedTrial, str]] = {}
        self._server: RecordingServer | None = None
        self._refusals: list[InvalidInput] = []
        self._owned: set[TrialId] = set()
        self._has_named_http_2 = False
        self._caps = [self._make_cap()]
        self.replays: dict[str, ReplayNote] = {}
        """What replays used of cassettes, by path."""

    @property
    def costs(self) -> list[CallCost]:
        """What each call cost that went to a provider; empty without a limit of the cost."""
        return [cost for cap in self._caps for cost in cap.costs]

    @property
    def is_at_limit(self) -> bool:
        """Whether a request was refused, so that no other trial is to be started."""
        return not self._request.limits.per_trial and self._caps[0].reached is not None

    def _make_cap(self) -> Cap:
        return Cap(self._request.limits, self._request.measure_cost)

    @property
    def open_trials(self) -> list[tuple[str, RecordedTrial]]:
        """The trials that are open, each with its token."""
        return [(token, recorded) for recorded, token in self._trials.values()]

    async def run_trial(self, planned: PlannedTrial) -> TrialOutcome:
        """Runs the command for one trial, and writes the traces of all trials that it recorded."""
        request, tools = self._request, self._tools
        before = set(self._trials)
        self._version = replace(request.version, agent_hash=planned.agent_hash)
        self._find(planned.trial)
        is_replay = self._rules.mode == "read"
        facts = AgentFacts(planned.trial, planned.prompt, self._version.commit, planned.agent_hash, is_replay=is_replay)
        endpoints = self.addresses.build_endpoints(self._trials[planned.trial][1])
        environ = build_environ(request.environ, endpoints, facts, request.extra)
        state = None if tools.state is None else await tools.state.read({**environ, WHEN: "before"})
        if state is not None and state.problem is not None:
            return await self._close_unmeasured(planned.trial, state)
        agent = await tools.start_agent(fill_command(request.command, planned), environ)
        server = self._server = self._server or await tools.start_server(self)
        end = await agent.wait(request.timeout)
        await server.wait_until_quiet(request.flush, LONGEST_FLUSH, lambda: not agent.has_group())
        await agent.end_group()
        end = end._replace(reached=self._trials[planned.trial][0].cap.reached)
        if server.met_http_2 and not self._has_named_http_2:
            self._has_named_http_2 = True
            tools.outputs.note(GRPC)
        if (reason := end.describe()) is not None:
            tools.outputs.note(f"{planned.trial}: {reason}")
        spans = {} if tools.receiver is None else tools.receiver.take()
        for trial in spans:
            self._find(trial)
        named = [trial for trial in self._trials if trial not in before]
        if state is not None and tools.state is not None and end.interrupted is None:
            after = await tools.state.read({**environ, WHEN: "after"})
            self._keep_state(named, state, after)
        return _merge(planned.trial, [await self._close(server, each, end, spans.get(each)) for each in named], end)

    def _keep_state(self, named: Sequence[TrialId], before: Snapshot, after: Snapshot) -> None:
        """Keeps what the run left behind for its trial; of several in one process, it is not known which left it."""
        if before.files == after.files == {}:
            self._tools.outputs.note("warning: `--state-files` matches no file, before and after the run")
        if len(named) == 1:
            self._trials[named[0]][0].state = build_state(before, after, self._rules.masks)
        else:
            self._tools.outputs.note(f"warning: {len(named):,} scenarios ran in one process, so no state is recorded")

    async def _close_unmeasured(self, trial: TrialId, state: Snapshot) -> TrialOutcome:
        """Writes a trace that says that nothing was measured: the agent was not started."""
        recorded, token = self._trials.pop(trial)
        if self._server is not None:
            await self._server.close(token)
        recorded.state = build_state(state, state, self._rules.masks)
        return self._writer.write(recorded, AgentEnd(0), self._version, None)

    def write_failed(self, outcomes: Sequence[TrialOutcome]) -> None:
        """Writes the traces of runs that failed before anything was recorded, and counts them."""
        written = set(self._writer.write_failed())
        for outcome in outcomes:
            outcome.traces += outcome.trial in written

    def raise_refusal(self) -> None:
        """Raises the first error of a trial that the agent opened, and the first bug that a request met."""
        for error in self._refusals:
            raise error
        if self._server is not None and self._server.bug is not None:
            raise self._server.bug

    async def _close(
        self, server: RecordingServer, trial: TrialId, end: AgentEnd, spans: TrialSpans | None
    ) -> TrialOutcome:
        """Closes a trial and writes its trace."""
        recorded, token = self._trials.pop(trial)
        await server.close(token)
        end = end._replace(reached=recorded.cap.reached)
        outcome = self._writer.write(recorded, end, self._version, spans)
        if self._rules.mode != "off":
            self.replays[self._tools.outputs.cassettes.path(trial)] = recorded.note_replay()
        return outcome

    def _hide_credentials(self, values: Sequence[str]) -> None:
        """Makes this process redact these values besides those of the environment and the project."""
        if self._secrets.issuperset(values):
            return
        self._secrets.update(values)
        project = get_project_secrets()
        hide_secrets(sorted(self._secrets))
        if project is not None:
            add_project_secrets(project)

    def _find(self, trial: TrialId) -> RecordedTrial:
        """The recording of a trial, opened if it is not: its cassette is read, and an earlier trace deleted."""
        if trial not in self._trials:
            require_valid(trial)
            if len(self._trials) >= MAX_TRIALS:
                raise SettingError(f"more than {MAX_TRIALS:,} scenarios are open")
            outputs = self._tools.outputs
            cassette = None if self._rules.mode == "off" else outputs.cassettes.load(trial)
            outputs.traces.remove(trial)
            self._remove_others(trial)
            if self._request.limits.per_trial:
                self._caps.append(self._make_cap())
            recorded = RecordedTrial(trial, self._rules, cassette, self._caps[-1])
            token = self.addresses.make_token()
            self._trials[trial] = recorded, token
            if self._server is not None:
                self._server.open(token, recorded)
        return self._trials[trial][0]

    def _remove_others(self, trial: TrialId) -> None:
        """Deletes what other recordings wrote of the scenario, so that what is judged is of this one."""
        scenario, recording_id = trial._replace(trial=0), self._version.recording_id
        if not self._request.owns_folders or recording_id is None or trial.scenario is None or scenario in self._owned:
            return
        self._owned.add(scenario)
        for path in self._tools.outputs.traces.remove_others(trial, recording_id)[:MAX_NAMED]:
            self._tools.outputs.note(
                f"warning: {path} stays, and may be judged: no recording is known to have written it"
            )
        option = "--suite" if trial.suite is None else "--scenario"
        for place in self._tools.outputs.traces.replace_elsewhere(trial, recording_id):
            wrote = f"`record {option}` wrote {place.folder}"
            self._tools.outputs.note(
                f"{wrote}: this recording replaces it, as {place.suite} reads both as trials of {trial.scenario}"
                if place.is_removed
                else f"warning: {wrote}: a suite that reads it, too, counts both recordings as trials; delete one"
            )

    def open_trial(self, trial: TrialId) -> dict[str, Any]:
        """Opens a trial that the agent names."""
        try:
            self._find(trial)
        except InvalidInput as error:
            self._refusals.append(error)
            raise
        url = self.addresses.build_endpoints(self._trials[trial][1]).trial_url
        return {"otlp_endpoint": url, "base_urls": {name: base_url(url, name) for name in self._request.providers}}

    def finish_trial(self, trial: TrialId, document: Any) -> None:
        """Closes a trial that the agent names; its trace is written when the agent has ended."""
        if trial not in self._trials:
            raise SettingError("this scenario is not open")
        recorded, token = self._trials[trial]
        if self._server is not None:
            self._server.refuse(token)
        recorded.own_trace = read_own_trace(document, trial, self._tools.outputs.readers)

    def attribute(self, recording: TrialRecording, scenario: str) -> TrialRecording:
        """The recording of a scenario that a header names, unless the token names one."""
        if recording.trial.scenario is not None:
            return recording
        trial = recording.trial._replace(scenario=scenario)
        self.open_trial(trial)
        return self._find(trial)


def _merge(trial: TrialId, found: Sequence[TrialOutcome], end: AgentEnd) -> TrialOutcome:
    """What one run of the command recorded, for all trials that it named."""
    merged = TrialOutcome(trial, end.code, end.has_timed_out, end.interrupted, end.reached)
    for outcome in found:
        merged.add(outcome)
    return merged
