"""Records what an agent does in EvalGate's native trace format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from random import Random

CHARACTERS_PER_TOKEN = 4
FIXED_PROMPT_TOKENS = 900  # tool descriptions, sent with every step


class Model(NamedTuple):
    """What a step of the pretended model costs (US dollars a million tokens) and how fast it writes."""

    name: str
    input_price: float
    output_price: float
    tokens_per_second: float


@dataclass
class Recorder:
    """One conversation. Time and cost are computed from the length of the texts, not measured."""

    model: Model
    chance: Random
    messages: list[dict[str, Any]] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def system(self, text: str) -> None:
        """The agent's standing instructions."""
        self.messages.append({"role": "system", "content": text})

    def user(self, text: str) -> None:
        """What the customer says."""
        self.messages.append({"role": "user", "content": text})

    def assistant(self, text: str) -> None:
        """What the agent answers."""
        self._bill(text)
        self.messages.append({"role": "assistant", "content": text})

    def request(self, tool: str, arguments: dict[str, Any]) -> str:
        """The agent asks for a tool; gives the call's id."""
        call_id = f"call_{len(self.messages)}"
        self._bill(tool + json.dumps(arguments))
        call = {"id": call_id, "name": tool, "arguments": arguments}
        self.messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        return call_id

    def answer(self, call_id: str, content: str, *, is_error: bool) -> None:
        """What the tool gave back."""
        duration = round(2.0 if is_error else 0.1 + 0.3 * self.chance.random(), 3)
        self.seconds += duration
        self.messages.append(
            {
                "role": "tool",
                "tool_call_id": call_id,
                "content": content,
                "is_error": is_error,
                "duration_seconds": duration,
            },
        )

    def _bill(self, written: str) -> None:
        read = sum(len(json.dumps(message)) for message in self.messages)
        tokens = max(1, len(written) // CHARACTERS_PER_TOKEN)
        self.input_tokens += FIXED_PROMPT_TOKENS + read // CHARACTERS_PER_TOKEN
        self.output_tokens += tokens
        self.seconds += 0.4 + 0.4 * self.chance.random() + tokens / self.model.tokens_per_second

    def trace(self, scenario: str, trial: int, version: str) -> dict[str, Any]:
        """The finished record."""
        dollars = self.input_tokens * self.model.input_price + self.output_tokens * self.model.output_price
        return {
            "schema": "evalgate.trace/1",
            "trace_id": f"{version}-{scenario}-{trial}",
            "scenario_id": scenario,
            "trial": trial,
            "model": self.model.name,
            "provider": "scripted",
            "started_at": f"2026-11-02T09:{trial:02d}:00Z",
            "messages": self.messages,
            "usage": {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens},
            "cost_usd": round(dollars / 1_000_000, 6),
            "latency_seconds": round(self.seconds, 3),
            "finish_reason": "stop",
            "tags": {"version": version},
        }
