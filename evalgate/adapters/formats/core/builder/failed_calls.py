"""Adds the failed model call that ended a run, which has no response, message or tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ModelError, Trace

LITELLM = re.compile(r"\blitellm(?:\.exceptions)?\.([A-Z]\w{0,60})")
MOST_READ = 4_000
"""Characters of an error that are searched for its name."""


def build_model_error(kind: str | None, message: str | None, status_code: int | None = None) -> ModelError:
    """The failure of a request to a model."""
    return {"type": kind or None, "message": message or None, "status_code": status_code}


def add_failed_call(trace: Trace, error: ModelError) -> None:
    """Adds a failed model call after everything that the trace records; call it once all totals are known."""
    answers = sum(message["role"] == "assistant" for message in trace.messages)
    trace.llm_calls.append(
        {
            "index": len(trace.llm_calls),
            "turn": trace.turn_count,
            "step": 1 + max((call["step"] for call in trace.tool_calls), default=answers),
            "provider": trace.provider,
            "model": trace.model,
            "response_id": None,
            "usage": None,
            "cost_usd": None,
            "duration_ms": None,
            "finish_reason": None,
            "error": error,
        }
    )


def find_litellm_error(text: str | None) -> ModelError | None:
    """The error of LiteLLM that a text names: the failure of a request to a model, and of nothing else."""
    found = LITELLM.search((text or "")[:MOST_READ])
    return None if found is None else build_model_error(found[1], text)
