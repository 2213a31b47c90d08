"""The trace that `init` writes where there are no traces yet, to show a suite that is learnt from it."""

from __future__ import annotations

import json
from typing import Any

EXAMPLE_PATH = "traces/example.jsonl"
_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("lookup_order", {"order_id": "A-17", "detail": "payment"}, "order A-17: paid, delivered yesterday"),
    ("issue_refund", {"order_id": "A-17", "reason": "damaged"}, "refunded"),
]


def build_example() -> str:
    """A native trace of an agent that refunds an order, as a line."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "My order A-17 arrived damaged. I want a refund."}]
    for number, (name, arguments, result) in enumerate(_CALLS, 1):
        call = {"id": f"call-{number}", "name": name, "arguments": arguments}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call-{number}", "content": result})
    messages.append({"role": "assistant", "content": "I have refunded order A-17."})
    trace = {
        "schema": "evalgate.trace/1",
        "trace_id": "example-1",
        "scenario_id": "refund-damaged-order",
        "messages": messages,
        "usage": {"input_tokens": 900, "output_tokens": 80},
        "cost_usd": 0.004,
        "latency_seconds": 3.2,
    }
    return json.dumps(trace) + "\n"
