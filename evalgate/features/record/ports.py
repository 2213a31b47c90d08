"""What a recording works with, and what its server calls: the recording of a trial, the receiver, the list of trials.

The server owns HTTP: it checks token, Host and Origin, unpacks bodies (gzip; at most 64 MB unpacked), and knows
nothing of cassettes, traces or spans. It calls these from one thread, and none of them may block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.features.record.models.cassette import Cassette
    from evalgate.features.record.models.exchange import Exchange, ProviderAnswer, ProviderRequest, TrialId
    from evalgate.features.record.models.run import AgentEnd, ProcessRun, TrialSpans
    from evalgate.features.record.models.state import Snapshot
    from evalgate.models.trace.trace import Trace


class TrialRecording(Protocol):
    """The recording of one trial, which its token opens."""

    @property
    def trial(self) -> TrialId:
        """The trial that requests with this token belong to."""

    def find_answer(self, request: ProviderRequest) -> Exchange | ProviderAnswer | None:
        """The recorded exchange, an answer made up for a missing one, or None if the provider is to be asked."""

    async def admit(self, request: ProviderRequest) -> ProviderAnswer | None:
        """Waits until the request may go to the provider: None, and `release` follows; else what the agent gets."""

    def release(self) -> None:
        """Ends a request that was admitted."""

    def add_exchange(self, exchange: Exchange) -> None:
        """Adds an exchange once its answer is complete or has broken off."""

    def note_credentials(self, values: Sequence[str]) -> None:
        """Notes the keys of a request, which are redacted wherever they occur."""


class RunningAgent(Protocol):
    """The agent's command, with all processes that it started."""

    async def wait(self, longest: float) -> AgentEnd:
        """Waits until the command ends; ends all its processes after `longest` seconds, and when interrupted."""

    def has_group(self) -> bool:
        """Whether a process of the agent still runs."""

    async def end_group(self) -> None:
        """Ends every process of the agent."""


class RecordingServer(Protocol):
    """The server that the agent's requests go to."""

    bug: Exception | None
    """The first bug of EvalGate that a request met."""

    @property
    def met_http_2(self) -> bool:
        """Whether a program tried HTTP/2, which gRPC needs."""

    def open(self, token: str, recording: TrialRecording) -> None:
        """Opens a trial, which its token names."""

    async def close(self, token: str) -> None:
        """Closes a trial: its token is unknown from now on, and its requests end."""

    def refuse(self, token: str) -> None:
        """Accepts no new request with this token."""

    async def wait_until_quiet(self, seconds: float, longest: float, is_alone: Callable[[], bool]) -> None:
        """Waits until no request came for `seconds`, at most `longest`; ends at once where nothing can send any."""


class CassetteStore(Protocol):
    """Cassettes by trial."""

    def path(self, trial: TrialId) -> str:
        """The path of a trial's cassette, to show."""

    def load(self, trial: TrialId) -> Cassette | None:
        """The cassette of a trial; None if there is none. Raises InvalidInput for one that is refused."""

    def write(self, trial: TrialId, cassette: Cassette) -> int:
        """Writes a cassette as a whole; returns its size in bytes, and writes none above 20 MB."""


class OtherPlace(NamedTuple):
    """A folder with an earlier recording of a scenario of this suite, as paths name it; `is_removed` if it was."""

    folder: str
    suite: str
    is_removed: bool


class TraceStore(Protocol):
    """Files of traces by trial; a suffix distinguishes their forms.

    `removed`: the paths of the traces of earlier recordings that were deleted.
    """

    removed: list[str]

    def remove(self, trial: TrialId) -> None:
        """Deletes the traces of a trial."""

    def remove_others(self, trial: TrialId, recording_id: str) -> list[str]:
        """Deletes the traces of a trial's scenario that another recording wrote.

        Returns the paths of other files there, which no recording wrote, or one of an earlier version.
        """

    def replace_elsewhere(self, trial: TrialId, recording_id: str) -> list[OtherPlace]:
        """Deletes what another recording wrote of the trial's scenario and variant in the other place of one.

        That is the folder of `record --scenario` for a trial of a suite, else those of `record --suite`. What more
        than one suite may read stays. Returns the places whose traces a suite counts, or may count, as trials too.
        """

    def write(self, trial: TrialId, suffix: str, content: bytes) -> None:
        """Writes the trace of a trial as a whole; raises SettingError."""


class TraceReaders(Protocol):
    """Makes traces of what was recorded, and lines of traces."""

    def build_trace(self, exchanges: Sequence[Exchange], run: ProcessRun) -> Trace:
        """The trace of model calls, which are at least one."""

    def read_spans(self, spans: TrialSpans, trial: TrialId) -> tuple[list[Trace], list[str]]:
        """The traces of the spans, and why others can't be read."""

    def find_missing_content(self, traces: Sequence[Trace]) -> list[str]:
        """How to record the messages of these traces, for each tracer that recorded none."""

    def read_trace(self, document: Any) -> Trace:
        """The native trace of a document; raises TraceError."""

    def add_tool_facts(self, trace: Trace, others: Sequence[Trace]) -> None:
        """Adds what other traces of the same run know of tools: times, errors, and calls that no model asked for."""

    def encode_trace(self, trace: Trace) -> bytes:
        """The line of a trace, without secrets."""

    def encode_spans(self, spans: TrialSpans, trial: TrialId, origin: Mapping[str, str | None]) -> bytes:
        """The lines of the spans, without secrets; `origin` names commit and hash of the agent."""


class ReceiverAnswer(NamedTuple):
    """What an exporter of spans gets back."""

    status: int
    content_type: str
    body: bytes


class StateSource(Protocol):
    """What the run may change: what a command prints, and files."""

    async def read(self, environ: Mapping[str, str]) -> Snapshot:
        """The state now; a problem that prevents reading it is part of it. `environ` is the agent's."""


class OtlpReceiver(Protocol):
    """Takes what OpenTelemetry exporters send to `/t/<token>/v1/traces`, `/v1/logs` and `/v1/metrics`."""

    def receive(self, signal: str, content_type: str, body: bytes, trial: TrialId) -> ReceiverAnswer:
        """Takes one request. `signal` is `traces`, `logs` or `metrics`; `body` is unpacked; `trial` is the token's.

        Answers 200 with an empty response in the request's content type, 400 for what can't be read, never 5xx.
        """

    def note_refused(self, signal: str, reason: str, trial: TrialId) -> None:
        """Notes that a request was refused before it could be read, so that its records are missing."""

    def take(self) -> dict[TrialId, TrialSpans]:
        """What was received, by trial, and forgets it; spans of an address without a scenario may name one."""


class TrialList(Protocol):
    """The trials that an agent opens and finishes by itself, with the control token."""

    def open_trial(self, trial: TrialId) -> dict[str, Any]:
        """Opens a trial; returns `otlp_endpoint` and `base_urls` by provider. Raises SettingError."""

    def attribute(self, recording: TrialRecording, scenario: str) -> TrialRecording:
        """The recording of a scenario that a request names in a header, if its token names none."""

    def finish_trial(self, trial: TrialId, document: Any) -> None:
        """Closes a trial: its token is no longer accepted. `document` is the agent's own trace, or None.

        Raises SettingError for a trial that is not open, and for a damaged trace.
        """
