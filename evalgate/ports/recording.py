"""What the recording server calls: the recording of a trial, the receiver of spans, the list of trials.

The server owns HTTP: it checks token, Host and Origin, unpacks bodies (gzip; at most 64 MB unpacked), and knows
nothing of cassettes, traces or spans. It calls these from one thread, and none of them may block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.recording.exchange import Exchange, ProviderAnswer, ProviderRequest, TrialId


class TrialRecording(Protocol):
    """The recording of one trial, which its token opens."""

    @property
    def trial(self) -> TrialId:
        """The trial that requests with this token belong to."""

    def find_answer(self, request: ProviderRequest) -> Exchange | ProviderAnswer | None:
        """The recorded exchange, an answer made up for a missing one, or None if the provider is to be asked."""

    def add_exchange(self, exchange: Exchange) -> None:
        """Adds an exchange once its answer is complete or has broken off."""

    def note_credentials(self, values: Sequence[str]) -> None:
        """Notes the keys of a request, which are redacted wherever they occur."""


class ReceiverAnswer(NamedTuple):
    """What an exporter of spans gets back."""

    status: int
    content_type: str
    body: bytes


class OtlpReceiver(Protocol):
    """Takes what OpenTelemetry exporters send to `/t/<token>/v1/traces`, `/v1/logs` and `/v1/metrics`."""

    def receive(self, signal: str, content_type: str, body: bytes, trial: TrialId) -> ReceiverAnswer:
        """Takes one request. `signal` is `traces`, `logs` or `metrics`; `body` is unpacked; `trial` is the token's.

        Answers 200 with an empty response in the request's content type, 400 for what can't be read, never 5xx.
        """

    def note_refused(self, signal: str, reason: str, trial: TrialId) -> None:
        """Notes that a request was refused before it could be read, so that its records are missing."""


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
