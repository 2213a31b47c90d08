"""Connects the recording server, the agent's process and the files of traces: the verb `record`."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalgate.adapters.clock import SystemClock
from evalgate.adapters.formats.exchanges.trace import format_time
from evalgate.application.recording.agent_environ import AgentFacts, Endpoints, base_url, build_environ
from evalgate.application.recording.outcome import TrialOutcome, decide_exit, describe_outcome
from evalgate.application.recording.plan import PlannedTrial, fill_command
from evalgate.application.recording.trials import CacheRules, RecordedTrial
from evalgate.bootstrap.cassettes import DEFAULT_FOLDER, CassetteFolder, write_replays
from evalgate.bootstrap.recorded_evidence import NATIVE, OTLP, TrialEvidence, build_file, read_own_trace
from evalgate.errors import InvalidInput, Problem, SettingError
from evalgate.measures.recording.canonical import RULES_VERSION
from evalgate.measures.recording.paths import build_trial_path
from evalgate.measures.redaction.redact import add_project_secrets, get_project_secrets, hide_secrets
from evalgate.models.recording.cassette import MAX_BYTES, WARN_BYTES, CassetteHeader
from evalgate.models.recording.exchange import TrialId  # noqa: TC001  (a field's type)
from evalgate.settings.provider_urls import choose_upstreams
from evalgate.settings.secret_variables import find_secret_values
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.adapters.formats.received.receiver import TrialSpans
    from evalgate.adapters.recorder.agent_process import AgentEnd, Interrupts
    from evalgate.adapters.recorder.server import RecorderServer
    from evalgate.application.recording.staleness import ReplayNote
    from evalgate.models.trace.trace import Trace

HOST = "127.0.0.1"
LONGEST_FLUSH = 10.0
MAX_TRIALS = 1_000
BACKLOG = 128
TOKEN_BYTES = 16


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


def record(options: RecordOptions, environ: Mapping[str, str], cwd: str, note: Callable[[str], None]) -> int:
    """Runs the command once a trial and writes a trace of each; returns the exit code. Raises InvalidInput."""
    recording = _Recording(options, environ, cwd, note)
    return asyncio.run(recording.run())


class _Recording:
    """One run of `record`; implements `TrialList` for the agent."""

    def __init__(
        self, options: RecordOptions, environ: Mapping[str, str], cwd: str, note: Callable[[str], None]
    ) -> None:
        from evalgate.adapters.formats.received.receiver import SpanReceiver
        from evalgate.bootstrap.store import find_commit_and_branch

        self._options, self._environ, self._cwd, self._note = options, environ, cwd, note
        self._folder = CassetteFolder(cwd, options.cassettes)
        self._rules = replace(options.rules, hide_addresses=self._hide_addresses)
        self._created = format_time(SystemClock(environ.get("SOURCE_DATE_EPOCH")).now().timestamp())
        self._refusals: list[InvalidInput] = []
        self._replays: dict[str, ReplayNote] = {}
        self._secrets = {*find_secret_values({**environ, **options.environ})}
        self._upstreams = choose_upstreams(options.providers, environ) if options.with_proxy else {}
        self._commit, _ = find_commit_and_branch(None, environ, cwd)
        self._trials: dict[TrialId, tuple[RecordedTrial, str]] = {}
        self._outcomes: list[TrialOutcome] = []
        self._receiver = SpanReceiver() if options.with_otlp else None
        self._port = 0
        self._control_token = secrets.token_hex(TOKEN_BYTES)
        self._tokens = [self._control_token]
        self._agent_hash: str | None = None
        self._server: RecorderServer | None = None
        self._listener: socket.socket

    async def run(self) -> int:
        from evalgate.adapters.recorder.agent_process import Interrupts

        self._listener = socket.create_server((HOST, 0), backlog=BACKLOG)
        self._port = self._listener.getsockname()[1]
        try:
            with Interrupts() as interrupts:
                for planned in self._options.planned:
                    await self._run_trial(planned, interrupts)
                    if interrupts.received is not None or self._outcomes[-1].has_timed_out:
                        break
        finally:
            if self._server is not None:
                await self._server.stop()
            self._listener.close()
        write_replays(self._cwd, self._replays)
        for error in [*self._refusals, *([self._server.bug] if self._server and self._server.bug else [])]:
            raise error
        missing = len(self._options.planned) - len(self._outcomes)
        self._note(describe_outcome(self._outcomes))
        return decide_exit(
            self._outcomes, missing=missing, keep_going=self._options.keep_going, is_suite=self._options.is_suite
        )

    async def _start_server(self) -> RecorderServer:
        """Starts the server while the agent starts: its first requests wait in the socket meanwhile."""
        from evalgate.adapters.recorder.server import RecorderServer

        server = RecorderServer(
            self._upstreams, self._receiver, self, self._control_token, is_realtime=self._options.is_realtime
        )
        for recorded, token in self._trials.values():
            server.open(token, recorded)
        await server.start(self._listener)
        return server

    async def _run_trial(self, planned: PlannedTrial, interrupts: Interrupts) -> None:
        from evalgate.adapters.recorder.agent_process import AgentProcess

        options = self._options
        before = set(self._trials)
        self._agent_hash = planned.agent_hash
        self._find(planned.trial)
        facts = AgentFacts(
            planned.trial, planned.prompt, self._commit, planned.agent_hash, is_replay=options.rules.mode == "read"
        )
        endpoints = self._build_endpoints(planned.trial)
        environ = build_environ(self._environ, endpoints, facts, options.environ)
        agent = await AgentProcess.start(fill_command(options.command, planned), environ, self._cwd)
        server = self._server = self._server or await self._start_server()
        end = await agent.wait(options.timeout, interrupts)
        await server.wait_until_quiet(options.flush, LONGEST_FLUSH, lambda: not agent.has_group())
        await agent.end_group()
        if (reason := end.describe()) is not None:
            self._note(f"{planned.trial}: {reason}")
        spans = {} if self._receiver is None else self._receiver.take()
        for trial in spans:
            self._find(trial)
        found = [
            await self._close(server, trial, end, spans.get(trial))
            for trial in list(self._trials)
            if trial not in before
        ]
        self._outcomes.append(_merge(planned.trial, found, end))

    async def _close(
        self, server: RecorderServer, trial: TrialId, end: AgentEnd, spans: TrialSpans | None
    ) -> TrialOutcome:
        """Closes a trial and writes its trace."""
        recorded, token = self._trials.pop(trial)
        await server.close(token)
        outcome = TrialOutcome(trial, end.code, has_timed_out=end.has_timed_out, interrupted=end.interrupted)
        outcome.add_calls(recorded.exchanges)
        outcome.misses = len(recorded.misses)
        for line in [line for miss in recorded.misses for line in miss.describe()]:
            self._note(line)
        self._secrets |= recorded.credentials
        _hide(self._secrets)
        outcome.is_too_large = self._write_cassette(recorded, end)
        if self._rules.mode != "off":
            self._replays[self._folder.path(trial)] = recorded.note_replay()
        if recorded.misses:
            return outcome
        evidence = TrialEvidence(trial, end.describe(), spans=spans, own=recorded.own_trace)
        if recorded.exchanges:
            evidence.calls = self._build_trace(recorded, end)
        outcome.spans = evidence.span_count
        origin = {"evalgate.commit": self._commit, "evalgate.agent_hash": self._agent_hash}
        written = build_file(evidence, origin, self._note)
        if written is not None:
            self._write(trial, *written)
            outcome.traces = 1
        return outcome

    def _write_cassette(self, recorded: RecordedTrial, end: AgentEnd) -> bool:
        """Writes the cassette of a trial, unless it stays as it is; returns whether one was asked for and too large."""
        mode, trial = self._rules.mode, recorded.trial
        if mode == "write" and end.describe() is not None:
            self._note(f"{trial}: the agent failed, so its cassette stays as it is")
            return False
        header = CassetteHeader(
            **trial._asdict(),
            created=self._created,
            evalgate=__version__,
            rules_version=RULES_VERSION,
            agent_hash=self._agent_hash,
            commit=self._commit,
        )
        cassette = recorded.build_cassette(header)
        if cassette is None:
            return False
        for place in sorted(set(recorded.redacted)):
            self._note(f"warning: {trial}: a response holds a secret, which the cassette and a replay don't ({place})")
        size, path = self._folder.write(trial, cassette), self._folder.path(trial)
        if size > MAX_BYTES:
            self._note(f"warning: {path} would have {size:,} bytes, more than {MAX_BYTES:,}: it is not written")
            return mode == "write"
        if size > WARN_BYTES:
            self._note(f"warning: {path} has {size:,} bytes: shorten what the agent sends, so that it can be reviewed")
        return False

    def _build_trace(self, recorded: RecordedTrial, end: AgentEnd) -> Trace:
        from evalgate.adapters.formats.exchanges.trace import ProcessRun, build_trace

        trial, metadata = recorded.trial, _describe_replay(recorded)
        run = ProcessRun(trial, _trace_id(trial), end.describe(), self._commit, self._agent_hash, metadata)
        return build_trace(recorded.exchanges, run)

    def _write(self, trial: TrialId, suffix: str, content: bytes) -> None:
        from evalgate.adapters.file_writer import open_to_write

        path = self._trace_path(trial, suffix)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_to_write(os.fspath(path)) as stream:
                stream.write(self._hide_addresses(content))
        except OSError as error:
            raise SettingError(Problem(f"can't write {path}: {error.strerror or 'unknown error'}")) from None

    def _trace_path(self, trial: TrialId, suffix: str) -> Path:
        return Path(self._cwd, self._options.out, f"{build_trial_path(trial)}{suffix}")

    def _hide_addresses(self, text: bytes) -> bytes:
        return remove_addresses(text, self._port, self._tokens)

    def _find(self, trial: TrialId) -> RecordedTrial:
        """The recording of a trial, opened if it is not: its cassette is read, and an earlier trace deleted."""
        if trial not in self._trials:
            if len(self._trials) >= MAX_TRIALS:
                raise SettingError(f"more than {MAX_TRIALS:,} scenarios are open")
            cassette = None if self._rules.mode == "off" else self._folder.load(trial)
            for suffix in (NATIVE, OTLP):
                self._trace_path(trial, suffix).unlink(missing_ok=True)
            recorded = RecordedTrial(trial, self._rules, cassette)
            token = secrets.token_hex(TOKEN_BYTES)
            self._trials[trial] = recorded, token
            self._tokens.append(token)
            if self._server is not None:
                self._server.open(token, recorded)
        return self._trials[trial][0]

    def _build_endpoints(self, trial: TrialId) -> Endpoints:
        root = f"http://{HOST}:{self._port}"
        return Endpoints(
            f"{root}/t/{self._trials[trial][1]}",
            f"{root}/c/{self._control_token}",
            tuple(self._upstreams),
            self._options.with_otlp,
        )

    def open_trial(self, trial: TrialId) -> dict[str, Any]:
        """Opens a trial that the agent names."""
        try:
            self._find(trial)
        except InvalidInput as error:
            self._refusals.append(error)
            raise
        url = self._build_endpoints(trial).trial_url
        return {"otlp_endpoint": url, "base_urls": {name: base_url(url, name) for name in self._upstreams}}

    def finish_trial(self, trial: TrialId, document: Any) -> None:
        """Closes a trial that the agent names; its trace is written when the agent has ended."""
        if trial not in self._trials:
            raise SettingError("this scenario is not open")
        recorded, token = self._trials[trial]
        if self._server is not None:
            self._server.refuse(token)
        recorded.own_trace = read_own_trace(document, trial)

    def attribute(self, recording: Any, scenario: str) -> RecordedTrial:
        """The recording of a scenario that a header names, unless the token names one."""
        trial: TrialId = recording.trial
        if trial.scenario is not None:
            found: RecordedTrial = recording
            return found
        self.open_trial(trial._replace(scenario=scenario))
        return self._find(trial._replace(scenario=scenario))


def _merge(trial: TrialId, found: Sequence[TrialOutcome], end: AgentEnd) -> TrialOutcome:
    """What one run of the command recorded, for all trials that it named."""
    merged = TrialOutcome(trial, end.code, has_timed_out=end.has_timed_out, interrupted=end.interrupted)
    for outcome in found:
        merged.add(outcome)
    return merged


def _trace_id(trial: TrialId) -> str:
    return hashlib.sha256("\0".join(map(str, trial)).encode("utf-8", "replace")).hexdigest()[:32]


def _describe_replay(recorded: RecordedTrial) -> dict[str, Any]:
    """What a replayed trace says of its cassette."""
    if recorded.cassette is None or not any(exchange.is_replayed for exchange in recorded.exchanges):
        return {}
    header = recorded.cassette.header
    found = {"cassette_commit": header.commit, "cassette_agent_hash": header.agent_hash}
    known = {f"evalgate.{name}": value for name, value in found.items() if value is not None}
    return {"evalgate.replayed": True, **known}


def _hide(secrets: set[str]) -> None:
    """Makes this process redact these values besides those of the project."""
    project = get_project_secrets()
    hide_secrets(sorted(secrets))
    if project is not None:
        add_project_secrets(project)


def remove_addresses(text: bytes, port: int, tokens: Sequence[str]) -> bytes:
    """The text without the tokens and the port of the server, which are other ones in each run."""
    for token in tokens:
        text = text.replace(token.encode(), b"-")
    for host in (HOST, "localhost"):
        text = text.replace(f"{host}:{port}".encode(), f"{host}:0".encode())
    return text
