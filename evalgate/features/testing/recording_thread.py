"""Records agents that run in this process: a thread runs the server of `evalgate record`, one scenario at a time."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.errors import SettingError
from evalgate.features.record.models.exchange import TrialId
from evalgate.features.record.models.run import AgentEnd
from evalgate.recording import RecordedRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evalgate.features.record.adapters.recorder.server import RecorderServer
    from evalgate.features.record.application.outcome import TrialOutcome
    from evalgate.features.record.application.session import RecordingSession
    from evalgate.features.record.application.trials import CacheRules
    from evalgate.features.record.bootstrap.record_plan import LoadedSuite

BACKLOG, LONGEST = 128, 86_400.0
ONE_AT_A_TIME = (
    "a scenario is being recorded: one ends before the next begins, also in other threads, since a recording sets"
    " variables of the process (workers of pytest-xdist record at the same time)"
)
_is_recording = threading.Lock()


class InProcessAgent:
    """The code in a `with` block, as the agent of a recording; implements `RunningAgent`."""

    def __init__(self) -> None:
        self.started: Future[Mapping[str, str]] = Future()
        self._end: Future[AgentEnd] = Future()

    def end(self, *, failed: bool) -> None:
        """The block ended."""
        self._end.set_result(AgentEnd(1 if failed else 0))

    async def wait(self, longest: float) -> AgentEnd:
        """Waits for the end of the block."""
        return await asyncio.wait_for(asyncio.wrap_future(self._end), longest)

    def has_group(self) -> bool:
        """Never: threads of the test send no spans here."""
        return False

    async def end_group(self) -> None:
        """Does nothing: the process is that of the tests."""


class RecordingThread:
    """A server of this process; traces are kept in `folder` until a scenario ends.

    With a suite its masks apply, and cassettes are below the suite's name.
    """

    def __init__(self, folder: Path, root: str, rules: CacheRules, loaded: LoadedSuite | None = None) -> None:
        self._folder, self._root, self._loaded = folder, root, loaded
        self._rules = rules if loaded is None else replace(rules, masks=loaded.masks)
        self._notes: list[str] = []
        self._agent: InProcessAgent | None = None
        self._server: RecorderServer | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="evalgate")
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        self._session = self._build_session()
        self._thread.start()

    def stop(self) -> None:
        """Ends the server and the thread."""
        if self._server is not None:
            asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._listener.close()

    @contextmanager
    def record(self, scenario: str, variant: str | None, trial: int, folder: Path) -> Iterator[RecordedRun]:
        """Records the block; its trace is written below the folder when it ends. Raises SettingError if none was."""
        from evalgate.features.record.application.plan import PlannedTrial

        with _record_alone():
            agent = self._agent = InProcessAgent()
            self._notes.clear()
            suite, digest = (None, None) if self._loaded is None else (self._loaded.suite.name, self._loaded.agent_hash)
            planned = PlannedTrial(TrialId(suite, scenario, variant, trial), None, digest)
            recorded = asyncio.run_coroutine_threadsafe(self._session.run_trial(planned), self._loop)
            recorded.add_done_callback(lambda found: _pass_on(found, agent.started))
            run, failed = None, True
            try:
                with _in_environ(agent.started.result()), RecordedRun(out=folder) as run:
                    yield run
                failed = False
            finally:
                if run is not None:
                    agent.end(failed=failed)
                    self._finish(recorded.result(), run.path, failed=failed)

    def _finish(self, outcome: TrialOutcome, path: Path, *, failed: bool) -> None:
        found = next(iter(self._folder.rglob("*.jsonl")), None)
        if found is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(found, path)
        if failed:
            return  # its exception says more
        self._session.raise_refusal()
        if outcome.misses:
            raise SettingError("\n".join([*self._notes, "record it again with --evalgate-cache=write"]))
        if found is None:
            raise SettingError("nothing was recorded: the agent made no model call, and the test added no message")

    def _build_session(self) -> RecordingSession:
        from evalgate.adapters.clock import SystemClock
        from evalgate.adapters.files.git_head import find_commit_and_branch
        from evalgate.features.record.application.addresses import Addresses
        from evalgate.features.record.application.session import RecordingSession, RecordingTools, RecordRequest
        from evalgate.features.record.application.trial_writer import CodeVersion, Outputs
        from evalgate.features.record.bootstrap.cassettes import CassetteFolder
        from evalgate.features.record.bootstrap.trace_folder import TraceFolder
        from evalgate.features.record.bootstrap.trace_readers import TraceFormats
        from evalgate.features.record.models.exchange import format_time
        from evalgate.features.record.provider_urls import choose_upstreams
        from evalgate.settings.secret_variables import find_secret_values

        self._upstreams = choose_upstreams((), os.environ)
        created = format_time(SystemClock(os.environ.get("SOURCE_DATE_EPOCH")).now().timestamp())
        request = RecordRequest(
            (),
            os.environ.copy(),
            CodeVersion(created, find_commit_and_branch(None, os.environ, self._root)[0]),
            tuple(self._upstreams),
            flush=0.0,
            timeout=LONGEST,
            rules=self._rules,
            secrets=frozenset(find_secret_values(os.environ)),
        )
        traces = TraceFolder(self._root, os.fspath(self._folder))
        outputs = Outputs(CassetteFolder(self._root), traces, TraceFormats(), self._notes.append)
        addresses = Addresses(self._listener.getsockname()[1], tuple(self._upstreams), has_otlp=False)
        return RecordingSession(
            request, RecordingTools(self._start_agent, self._start_server, None, outputs), addresses
        )

    async def _start_agent(self, _command: Sequence[str], environ: Mapping[str, str]) -> InProcessAgent:
        assert self._agent is not None  # noqa: S101  (set by `record`)
        self._agent.started.set_result(environ)
        return self._agent

    async def _start_server(self, session: RecordingSession) -> RecorderServer:
        from evalgate.features.record.adapters.recorder.server import RecorderServer

        server = RecorderServer(self._upstreams, None, session, session.addresses.control_token, is_realtime=False)
        for token, recorded in session.open_trials:
            server.open(token, recorded)
        await server.start(self._listener)
        self._server = server
        return server


@contextmanager
def record_for_parent(run: RecordedRun) -> Iterator[RecordedRun]:
    """Records the block under `evalgate record`, which runs the tests: the run's addresses are set in the block."""
    from evalgate.features.record.application.providers import PROVIDERS

    with _record_alone(), run:
        variables = {
            variable: run.base_urls[each.name]
            for each in PROVIDERS
            for variable in each.url_variables
            if each.name in run.base_urls
        }
        with _in_environ({**os.environ, **variables}):
            yield run


@contextmanager
def _record_alone() -> Iterator[None]:
    if not _is_recording.acquire(blocking=False):
        raise SettingError(ONE_AT_A_TIME)
    try:
        yield
    finally:
        _is_recording.release()


def _pass_on(found: Future[TrialOutcome], started: Future[Mapping[str, str]]) -> None:
    """Lets the block see why a recording did not begin, such as a cassette that is refused."""
    error = found.exception()
    if error is not None and not started.done():
        started.set_exception(error)


@contextmanager
def _in_environ(environ: Mapping[str, str]) -> Iterator[None]:
    """Sets the variables of the process to these while the block runs."""
    before = os.environ.copy()
    changed = {name for name in {*before, *environ} if before.get(name) != environ.get(name)}
    try:
        _set({name: environ.get(name) for name in changed})
        yield
    finally:
        _set({name: before.get(name) for name in changed})


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
