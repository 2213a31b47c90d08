"""Connects the recording server, the agent's process and the files of traces: the verb `record`."""

from __future__ import annotations

import asyncio
import shlex
import socket
from secrets import token_hex
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.adapters.clock import SystemClock
from evalgate.errors import SettingError
from evalgate.features.record.application.addresses import HOST, Addresses
from evalgate.features.record.application.caps import CapLimits, describe_costs
from evalgate.features.record.application.failed_calls import describe_failed_calls
from evalgate.features.record.application.outcome import (
    decide_exit,
    describe_lost,
    describe_outcome,
    describe_removed,
    explain_nothing,
)
from evalgate.features.record.application.session import RecordingSession, RecordingTools, RecordRequest
from evalgate.features.record.application.trial_writer import CodeVersion, Outputs
from evalgate.features.record.application.trials import CacheRules
from evalgate.features.record.bootstrap.agent_command import describe_command
from evalgate.features.record.bootstrap.cassettes import DEFAULT_FOLDER, CassetteFolder, write_replays
from evalgate.features.record.bootstrap.skill_files import list_skills
from evalgate.features.record.bootstrap.trace_folder import TraceFolder
from evalgate.features.record.bootstrap.trace_readers import TraceFormats
from evalgate.features.record.models.exchange import format_time
from evalgate.features.record.provider_urls import choose_upstreams, describe_base_urls
from evalgate.settings.secret_variables import find_secret_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.features.record.adapters.recorder.agent_process import AgentProcess, Interrupts
    from evalgate.features.record.adapters.recorder.server import RecorderServer
    from evalgate.features.record.application.outcome import TrialOutcome
    from evalgate.features.record.application.plan import PlannedTrial
    from evalgate.features.record.models.exchange import CallCost, Exchange
    from evalgate.features.record.ports import StateSource
    from evalgate.suite.models import SuitePrices

BACKLOG = 128


class RecordOptions(Struct, frozen=True):
    """The options of `record`; `flush` and `timeout` are seconds."""

    command: Sequence[str]
    planned: Sequence[PlannedTrial]
    out: str = "traces"
    providers: Sequence[str] = ()
    with_proxy: bool = True
    with_otlp: bool = True
    flush: float = 1.0
    timeout: float = 600.0
    environ: Mapping[str, str] = {}
    is_realtime: bool = False
    keep_going: bool = False
    is_suite: bool = False
    cassettes: str = DEFAULT_FOLDER
    rules: CacheRules = CacheRules()
    keeps_stderr: bool = True
    owns_folders: bool = True
    limits: CapLimits = CapLimits()
    prices: SuitePrices | None = None
    state_command: Sequence[str] = ()
    state_files: str | None = None


def record(options: RecordOptions, environ: Mapping[str, str], cwd: str, note: Callable[[str], None]) -> int:
    """Runs the command once a trial and writes a trace of each; returns the exit code. Raises InvalidInput."""
    outputs = Outputs(CassetteFolder(cwd, options.cassettes), TraceFolder(cwd, options.out), TraceFormats(), note)
    return asyncio.run(_Recording(options, environ, cwd, outputs).run())


def _build_cost_measure(prices: SuitePrices | None) -> Callable[[Exchange], CallCost]:
    """What a call costs by the prices of the suite, else by the price list; raises SettingError without any."""
    from evalgate.adapters.price_list import find_price_list
    from evalgate.application.evaluation.pricing import Pricer
    from evalgate.features.record.adapters.exchanges.call_costs import measure_cost
    from evalgate.suite.models import SuitePrices

    table = find_price_list()
    if table is None and (prices is None or not prices.entries):
        raise SettingError("--max-usd needs prices: install evalgate-action[prices] or set `prices` in the --suite")
    pricer = Pricer(prices or SuitePrices(), table)
    return lambda exchange: measure_cost(exchange, pricer)


def _list_options(options: RecordOptions) -> list[str]:
    """The options that say what a trace has besides calls and answers."""
    state = [f"--state={shlex.join(options.state_command)}"] if options.state_command else []
    return state if options.state_files is None else [*state, f"--state-files={options.state_files}"]


def _choose_recording_id(environ: Mapping[str, str]) -> str:
    """The id that the environment gives, so that jobs of a matrix are one recording; else a new one."""
    run, attempt = environ.get("GITHUB_RUN_ID"), environ.get("GITHUB_RUN_ATTEMPT")
    return environ.get("EVALGATE_RECORDING_ID") or (f"{run}-{attempt}" if run and attempt else token_hex(8))


class _Recording:
    """One run of `record`: its socket and its server, which starts while the agent does."""

    def __init__(self, options: RecordOptions, environ: Mapping[str, str], cwd: str, outputs: Outputs) -> None:
        from evalgate.adapters.files.git_head import find_commit_and_branch
        from evalgate.features.record.adapters.received.receiver import SpanReceiver

        self._options, self._cwd, self._outputs = options, cwd, outputs
        self._upstreams = choose_upstreams(options.providers, environ) if options.with_proxy else {}
        self._receiver = SpanReceiver() if options.with_otlp else None
        self._server: RecorderServer | None = None
        created = format_time(SystemClock(environ.get("SOURCE_DATE_EPOCH")).now().timestamp())
        secrets = frozenset(find_secret_values({**environ, **options.environ}))
        self._request = RecordRequest(
            options.command,
            environ,
            CodeVersion(
                created,
                find_commit_and_branch(None, environ, cwd)[0],
                recording_id=_choose_recording_id(environ),
                skills=list_skills(cwd, outputs.note),
                command=describe_command(options.command, _list_options(options), cwd, secrets),
                base_urls=describe_base_urls(self._upstreams, secrets),
            ),
            tuple(self._upstreams),
            options.environ,
            options.flush,
            options.timeout,
            options.rules,
            secrets,
            owns_folders=options.owns_folders,
            limits=options.limits,
            measure_cost=None if options.limits.usd is None else _build_cost_measure(options.prices),
        )

    async def run(self) -> int:
        from evalgate.features.record.adapters.recorder.agent_process import Interrupts

        options = self._options
        with socket.create_server((HOST, 0), backlog=BACKLOG) as self._listener, Interrupts() as interrupts:
            port = self._listener.getsockname()[1]
            addresses = Addresses(port, tuple(self._upstreams), has_otlp=options.with_otlp)
            session = RecordingSession(self._request, self._build_tools(interrupts), addresses)
            try:
                outcomes = await self._run_trials(session, interrupts)
                session.write_failed(outcomes)
            finally:
                if self._server is not None:
                    await self._server.stop()
                if self._outputs.traces.removed:
                    self._outputs.note(describe_removed(self._outputs.traces.removed))
        write_replays(self._cwd, session.replays)
        session.raise_refusal()
        for line in explain_nothing(outcomes, with_proxy=options.with_proxy, with_otlp=options.with_otlp):
            self._outputs.note(line)
        for line in describe_failed_calls(outcomes, self._upstreams):
            self._outputs.note(line)
        has_git = self._request.version.commit is not None
        if lost := describe_lost(self._outputs.traces.removed, outcomes, has_git=has_git):
            self._outputs.note(lost)
        self._outputs.note(describe_outcome(outcomes))
        if options.limits.usd is not None:
            self._outputs.note(describe_costs(session.costs))
        missing = len(options.planned) - len(outcomes)
        return decide_exit(outcomes, missing=missing, keep_going=options.keep_going, is_suite=options.is_suite)

    async def _run_trials(self, session: RecordingSession, interrupts: Interrupts) -> list[TrialOutcome]:
        """Runs the trials in order, none after an interruption, a timeout or a cap."""
        outcomes: list[TrialOutcome] = []
        for planned in self._options.planned:
            outcomes.append(await session.run_trial(planned))
            if interrupts.received is not None or outcomes[-1].has_timed_out or session.is_at_limit:
                break
        return outcomes

    def _build_tools(self, interrupts: Interrupts) -> RecordingTools:
        from evalgate.features.record.adapters.recorder.agent_process import AgentProcess

        async def start_agent(command: Sequence[str], environ: Mapping[str, str]) -> AgentProcess:
            keeps_stderr = self._options.keeps_stderr
            return await AgentProcess.start(command, environ, self._cwd, interrupts, keeps_stderr=keeps_stderr)

        return RecordingTools(start_agent, self._start_server, self._receiver, self._outputs, self._build_state())

    def _build_state(self) -> StateSource | None:
        command, files = self._options.state_command, self._options.state_files
        if not command and files is None:
            return None
        from evalgate.features.record.adapters.state.files import parse_globs
        from evalgate.features.record.adapters.state.state_reader import StateReader
        from evalgate.features.record.bootstrap.trace_readers import decode_state

        return StateReader(self._cwd, decode_state, command, parse_globs(files) if files is not None else ())

    async def _start_server(self, session: RecordingSession) -> RecorderServer:
        """Starts the server while the agent starts: its first requests wait in the socket meanwhile."""
        from evalgate.features.record.adapters.recorder.server import RecorderServer

        control, is_realtime = session.addresses.control_token, self._options.is_realtime
        self._server = RecorderServer(self._upstreams, self._receiver, session, control, is_realtime=is_realtime)
        for token, recorded in session.open_trials:
            self._server.open(token, recorded)
        await self._server.start(self._listener)
        return self._server
