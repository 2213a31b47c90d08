"""Recorded traces of about 8 KB each in the native form, from a seed: trace i is the same in every file."""

from __future__ import annotations

import json
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SEED = 20261121
SCENARIOS = 250
FAILING_SHARE = 0.08
PLAN = ("get_order", "check_policy", "issue_refund")
OTHERS = ("find_customer", "list_parcels", "read_notes", "send_mail")
WORDS = tuple(
    word
    for line in (
        "parcel lamp chair table window policy delivery warehouse carrier invoice voucher customer colour",
        "broken scratched missing late early exchange credit bank card address street number please thanks",
        "tomorrow yesterday week month since because although again never always maybe shipped returned paid",
        "naïve café größer “quoted” … ✓",
    )
    for word in line.split()
)


def write(path: Path, count: int, scenarios: int = SCENARIOS) -> None:
    """`count` traces of so many scenarios, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            line = json.dumps(trace(number, scenarios), ensure_ascii=False, separators=(",", ":"))
            file.write(f"{line}\n")


def write_many(path: Path, count: int, some: Path) -> None:
    """`count` traces: those of the file `some` again and again, each with an id of its own."""
    written = 0
    with path.open("wb") as file:
        while written < count:
            new = b'"trace-%d-' % written
            with some.open("rb") as lines:
                for line in islice(lines, count - written):
                    file.write(line.replace(b'"trace-', new, 1))
                    written += 1


def trace(number: int, scenarios: int = SCENARIOS) -> dict[str, Any]:
    """One trace; each check fails in a share of them."""
    draw = Random(f"{SEED}/{number}")
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


def _calls(draw: Random, order: str, *, in_order: bool) -> list[dict[str, Any]]:
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


def _tool_result(draw: Random, name: str, order: str) -> str:
    lines = [
        {"sku": draw.randrange(10**9), "title": _prose(draw, 30), "price": round(draw.uniform(5, 900), 2)}
        for _ in range(draw.randint(3, 14))
    ]
    return json.dumps(
        {"tool": name, "order": order, "lines": lines, "note": _prose(draw, 60)}, ensure_ascii=False
    )


def _prose(draw: Random, length: int) -> str:
    words: list[str] = []
    written = 0
    while written < length:
        words.append(draw.choice(WORDS))
        written += len(words[-1]) + 1
    return " ".join(words)
