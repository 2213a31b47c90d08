"""Traces of about 8 KB each in the native format, from a seed: trace i is the same in every file."""

from __future__ import annotations

import json
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Shape = Callable[[dict[str, Any]], dict[str, Any]]

SEED = 20261121
SCENARIOS = 250
FAILING_SHARE = 0.08
PLAN = ("get_order", "check_policy", "issue_refund")
OTHERS = ("find_customer", "list_parcels", "read_notes", "send_mail")
PLAIN = tuple(
    word
    for line in (
        "parcel lamp chair table window policy delivery warehouse carrier invoice voucher customer colour",
        "broken scratched missing late early exchange credit bank card address street number please thanks",
        "tomorrow yesterday week month since because although again never always maybe shipped returned paid",
    )
    for word in line.split()
)
WORDS = (*PLAIN, *["naïve", "café", "größer", "“quoted”", "…", "✓"])
"""Those of every fourth trace, which is about the share of recorded ones that is not ASCII."""


class Draw(Random):
    """The random values of one trace."""

    def __init__(self, number: int) -> None:
        super().__init__(f"{SEED}/{number}")
        self.words = PLAIN if number % 4 else WORDS


def write(path: Path, count: int, scenarios: int = SCENARIOS, shaped: Shape | None = None) -> None:
    """Writes `count` traces of so many scenarios, one per line; `shaped` converts each before it is written."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            found = trace(number, scenarios)
            found = found if shaped is None else shaped(found)
            file.write(json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n")


def write_many(path: Path, count: int, source: Path) -> None:
    """Writes `count` traces: those of the file `source` repeated, each with a different id."""
    written = 0
    with path.open("wb") as file:
        while written < count:
            new = b'"trace-%d-' % written
            with source.open("rb") as lines:
                for line in islice(lines, count - written):
                    file.write(line.replace(b'"trace-', new, 1))
                    written += 1


def trace(number: int, scenarios: int = SCENARIOS) -> dict[str, Any]:
    """One trace; each check fails in a share of them."""
    draw = Draw(number)
    order = f"{draw.choice('ABC')}{draw.randrange(10**6):06d}"
    sound = [draw.random() >= FAILING_SHARE for _ in range(6)]
    contains, pattern, status, sequence, cost, latency = sound
    answer = (
        f"{_prose(draw, 200)} order {order if pattern else '(unknown)'} "
        f"{'has been refunded' if contains else 'was looked at'}. {_prose(draw, 200)}"
    )
    tokens = draw.randint(1_500, 9_000), draw.randint(100, 900)
    return {
        "schema": "evalgate.trace/1",
        "trace_id": f"trace-{number:07d}",
        "scenario_id": f"case-{number % scenarios:03d}",
        "trial": number // scenarios,
        "model": "small-1",
        "provider": "bench",
        "messages": [
            {"role": "system", "content": f"You are a support agent. {_prose(draw, 700)}"},
            {"role": "user", "content": f"Refund {order}, please. {_prose(draw, 200)}"},
            *_calls(draw, order, in_order=sequence),
            {"role": "assistant", "content": answer},
        ],
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
        "cost_usd": round(draw.uniform(0.001, 0.0499) + (0.0 if cost else 0.06), 6),
        "latency_seconds": round(draw.uniform(1.5, 19.9) + (0.0 if latency else 20.0), 3),
        "finish_reason": "stop",
        "metadata": {
            "status": "refunded" if status else "pending",
            "session": f"{draw.getrandbits(128):032x}",
        },
    }


def add_fields(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace with more of the fields that recorders write, one of them unknown."""
    return {
        **trace,
        "agent_version": "1.4.0",
        "started_at": f"2026-01-{trace['trial'] % 28 + 1:02d}T10:00:00Z",
        "tags": ["nightly", "refunds"],
    }


def chat(trace: dict[str, Any]) -> dict[str, Any]:
    """The same conversation as OpenAI messages, with its usage next to them."""
    return {
        "id": trace["trace_id"],
        "scenario_id": trace["scenario_id"],
        "trial": trace["trial"],
        "model": trace["model"],
        "messages": list(map(_chat_message, trace["messages"])),
        "usage": {
            "prompt_tokens": trace["usage"]["input_tokens"],
            "completion_tokens": trace["usage"]["output_tokens"],
        },
        "cost_usd": trace["cost_usd"],
        "latency_seconds": trace["latency_seconds"],
        "metadata": trace["metadata"],
    }


def flat_chat(trace: dict[str, Any]) -> dict[str, Any]:
    """The same with calls as some recorders write them: without a `function` around them, and timed."""
    recorded = chat(trace)
    for message in recorded["messages"]:
        for call in message.get("tool_calls", ()):
            function = call.pop("function")
            call |= {"name": function["name"], "arguments": json.loads(function["arguments"])}
            call |= {"latency_ms": 120, "error": None}
    return recorded


def _chat_message(recorded: dict[str, Any]) -> dict[str, Any]:
    message = {key: value for key, value in recorded.items() if key != "duration_seconds"}
    if "tool_calls" in message:
        message["tool_calls"] = list(map(_chat_call, message["tool_calls"]))
    return message


def _chat_call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    return {"id": call["id"], "type": "function", "function": function}


def _calls(draw: Draw, order: str, *, in_order: bool) -> list[dict[str, Any]]:
    names = list(PLAN if in_order else PLAN[::-1])
    for _ in range(draw.randint(1, 3)):
        names.insert(draw.randint(0, len(names)), draw.choice(OTHERS))
    messages: list[dict[str, Any]] = []
    for index, name in enumerate(names):
        call = {"id": f"call_{index}", "name": name, "arguments": {"order": order, "note": _prose(draw, 40)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        answer = {
            "role": "tool",
            "tool_call_id": call["id"],
            "content": _tool_result(draw, name, order),
            "duration_seconds": round(draw.uniform(0.02, 1.5), 3),
        }
        messages.append(answer)
    return messages


def _tool_result(draw: Draw, name: str, order: str) -> str:
    lines = [
        {"sku": draw.randrange(10**9), "title": _prose(draw, 30), "price": round(draw.uniform(5, 900), 2)}
        for _ in range(draw.randint(3, 14))
    ]
    return json.dumps({"tool": name, "order": order, "lines": lines, "note": _prose(draw, 60)}, ensure_ascii=False)


def _prose(draw: Draw, length: int) -> str:
    words: list[str] = []
    written = 0
    while written < length:
        words.append(draw.choice(draw.words))
        written += len(words[-1]) + 1
    return " ".join(words)
