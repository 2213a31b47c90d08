"""The most model calls that a recording asks providers for."""

from __future__ import annotations

import orjson
from msgspec import Struct

from evalgate.features.record.models.exchange import JSON, ProviderAnswer

REFUSED = "evalgate_call_cap"
"""The type of the error that the agent gets."""


class CallCap(Struct):
    """Counts the requests that go to a provider; replayed answers cost nothing. None: as many as the agent makes."""

    most: int | None = None
    asked: int = 0
    is_reached: bool = False

    def take(self) -> bool:
        """Whether one more request may go to the provider. Requests are asked for one by one, so none goes beyond."""
        if self.most is not None and self.asked >= self.most:
            self.is_reached = True
            return False
        self.asked += 1
        return True

    def describe(self) -> str:
        """What was reached, in words."""
        return (
            f"the cap of {self.most:,} model calls (--max-calls)"
            if self.most != 1
            else "the cap of 1 model call (--max-calls)"
        )

    def build_answer(self, provider: str) -> ProviderAnswer:
        """The error that the agent gets, in the provider's shape; SDKs don't send the request again."""
        message = f"evalgate record sends no more requests: {self.describe()} is reached"
        error = {"type": REFUSED, "message": message}
        body = {"type": "error", "error": error} if provider == "anthropic" else {"error": {**error, "code": REFUSED}}
        return ProviderAnswer(429, JSON, [(0.0, orjson.dumps(body))], {"x-should-retry": "false"})
