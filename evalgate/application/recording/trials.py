"""What one trial recorded, while the agent runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.recording.providers import REPLAY_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.recording.exchange import Exchange, ProviderAnswer, ProviderRequest, TrialId
    from evalgate.models.trace.trace import Trace


class RecordedTrial:
    """What one trial recorded; implements `TrialRecording`."""

    def __init__(self, trial: TrialId) -> None:
        self._trial = trial
        self.exchanges: list[Exchange] = []
        self.credentials: set[str] = set()
        self.own_trace: Trace | None = None
        """What the agent's own recorder wrote."""

    @property
    def trial(self) -> TrialId:
        """The trial."""
        return self._trial

    def find_answer(self, request: ProviderRequest) -> Exchange | ProviderAnswer | None:
        """None: the provider is asked."""
        del request
        return None

    def add_exchange(self, exchange: Exchange) -> None:
        """Adds an exchange."""
        self.exchanges.append(exchange)

    def note_credentials(self, values: Sequence[str]) -> None:
        """Notes keys, which are redacted."""
        self.credentials.update(value for value in values if value and value != REPLAY_KEY)
