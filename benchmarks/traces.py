"""Writes traces of about 8 KB each in the native format, from a seed: trace i is the same in every file.

python benchmarks/traces.py FILE COUNT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

SEED = 20261121
DIFFERENT = 10_000
"""Traces after so many repeat the first ones under other ids."""
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


def write(path: Path, count: int) -> None:
    """Writes `count` traces, one per line, each of another scenario, with blanks and escapes as `json.dumps` does."""
    texts: list[str] = []
    with path.open("w", encoding="ascii") as file:
        for number in range(count):
            if number < DIFFERENT:
                texts.append(json.dumps(trace(number)))
            file.write(texts[number % DIFFERENT].replace(id_end(number % DIFFERENT), id_end(number)) + "\n")


def id_end(number: int) -> str:
    """How the JSON of a trace's id and its scenario's id ends."""
    return f'-{number:07d}"'


def trace(number: int) -> dict[str, Any]:
    """One trace; each check fails in a share of them."""
    draw = Draw(number)
    order = f"{draw.choice('ABC')}{draw.randrange(10**6):06d}"
    sound = [draw.random() >= FAILING_SHARE for _ in range(6)]
    contains, pattern, status, sequence, cost, latency = sound
    answer = (
        f"{prose(draw, 200)} order {order if pattern else '(unknown)'} "
        f"{'has been refunded' if contains else 'was looked at'}. {prose(draw, 200)}"
    )
    tokens = draw.randint(1_500, 9_000), draw.randint(100, 900)
    return {
        "schema": "evalgate.trace/1",
        "trace_id": f"trace-{number:07d}",
        "scenario_id": f"case-{number:07d}",
        "model": "small-1",
        "provider": "bench",
        "messages": [
            {"role": "system", "content": f"You are a support agent. {prose(draw, 900)}"},
            {"role": "user", "content": f"Refund {order}, please. {prose(draw, 200)}"},
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


def _calls(draw: Draw, order: str, *, in_order: bool) -> list[dict[str, Any]]:
    names = list(PLAN if in_order else PLAN[::-1])
    for _ in range(draw.randint(1, 3)):
        names.insert(draw.randint(0, len(names)), draw.choice(OTHERS))
    messages: list[dict[str, Any]] = []
    for index, name in enumerate(names):
        call = {"id": f"call_{index}", "name": name, "arguments": {"order": order, "note": prose(draw, 40)}}
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
        {"sku": draw.randrange(10**9), "title": prose(draw, 30), "price": round(draw.uniform(5, 900), 2)}
        for _ in range(draw.randint(3, 14))
    ]
    return json.dumps({"tool": name, "order": order, "lines": lines, "note": prose(draw, 60)}, ensure_ascii=False)


def prose(draw: Draw, length: int) -> str:
    """Words of about so many characters."""
    words: list[str] = []
    written = 0
    while written < length:
        words.append(draw.choice(draw.words))
        written += len(words[-1]) + 1
    return " ".join(words)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
