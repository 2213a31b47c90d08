"""A folder of traces in which the order of reading matters wherever it can, with suites that judge them."""

from __future__ import annotations

import gzip
import json
from random import Random
from typing import TYPE_CHECKING, Any

import span_containers

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2" * 9
SUPPORT = """
version: 1
suite: support
traces: ["../traces/**/*.json*"]
variants:
  calm: {match: {tags: ["mood:calm"]}}
  all: {match: {}}
scenarios:
  - id: case-1
    variants: {}
    trials: {min: 2, min_pass_rate: 0.5}
    assertions:
      - {type: output_contains, value: refunded}
  - id: "case-*"
    match: {where: "metadata.custom.kind == 'b'"}
    assertions:
      - {type: output_contains, value: WORD}
      - {type: cost_limit, max_usd: 0.05, weight: 2}
  - id: "ca*"
    variants: {}
    match: {path: "../traces/lines*"}
    trials: {min_pass_rate: 0.0001}
    assertions:
      - {type: output_contains, pattern: "order [A-Z]\\\\d+"}
      - {type: output_contains, value: nothing of this, required: REQUIRED}
  - id: "*"
    variants: {}
    assertions:
      - {type: output_contains, value: WORD}
  - id: never-recorded
    variants: {}
    assertions:
      - {type: output_contains, value: x}
"""
SPANS = """
version: 1
suite: spans
traces: ["../spans/*.json", "../traces/lines.jsonl"]
scenario_from: metadata.custom.session
scenarios:
  - id: "*"
    assertions:
      - {type: tool_sequence, sequence: [lookup_order]}
      - {type: latency_limit, max_seconds: 0.5}
"""


def write(folder: Path, *, seed: int, word: str = "order", required: str = "false") -> None:
    """Writes the traces of one seed and the two suites; other words make other assertions."""
    draw = Random(seed)
    evals, traces, spans = (folder / name for name in ("evals", "traces", "spans"))
    for each in (evals, traces / "single", spans):
        each.mkdir(parents=True, exist_ok=True)
    (evals / "support.yaml").write_text(SUPPORT.replace("WORD", word).replace("REQUIRED", required))
    (evals / "spans.yaml").write_text(SPANS)
    (traces / "lines.jsonl").write_bytes(b"".join(_lines(draw, 90)))
    (traces / "same_time.jsonl").write_bytes(b"".join(_lines(draw, 50, latency=2.5)))
    (traces / "later.jsonl.gz").write_bytes(gzip.compress(b"".join(_lines(draw, 60)), mtime=0))
    for number in range(15):
        recording = json.dumps(make_trace(draw, number), indent=1)
        (traces / "single" / f"{number}.json").write_text(recording if number % 9 else recording[:-5])
    for number in range(6):
        first, *rest = span_containers.rows(question=f"Where is order {number}?")
        trace = f"{number:032x}"
        for half, found in enumerate(([first, *rest[:1]], rest[1:])):
            document = span_containers.envelope(*(span_containers.otlp_span(row, trace) for row in found))
            (spans / f"{half}-{number}.json").write_text(json.dumps(document))


def write_few(folder: Path) -> None:
    """Writes six traces into one file, and three suites that read it."""
    (folder / "evals").mkdir()
    lines = [json.dumps(make_trace(Random(number), number)) for number in range(6)]
    (folder / "lines.jsonl").write_text("\n".join(lines))
    for name in ("one", "two", "three"):
        checks = "[{type: output_contains, value: order, required: true}]"
        scenarios = f"scenarios:\n  - id: '*'\n    assertions: {checks}\n"
        (folder / "evals" / f"{name}.yaml").write_text(f"suite: {name}\ntraces: [../lines.jsonl]\n{scenarios}")


def _lines(draw: Random, count: int, **fields: Any) -> list[bytes]:
    """Lines of which a few are damaged in one way or another."""
    lines = []
    for number in range(count):
        line = json.dumps(make_trace(draw, number, **fields)).encode()
        damage = draw.randrange(20) if number > 3 else None
        if damage == 0:
            line = line[: draw.randrange(len(line))]
        elif damage == 1:
            line = line[:-1] + b', "trace_id": "twice"}'
        elif damage == 2:
            line = b"\n  \r\n" + line
        elif damage == 3:
            line = b'{"schema": "evalgate.trace/1", "messages": [], "scenario_id": "case-2", "trial": 7}'
        lines.append(line + draw.choice([b"\n", b"\r\n"]))
    lines[-1] = lines[-1].strip()
    return lines


def make_trace(draw: Random, number: int, *, latency: float | None = None) -> dict[str, Any]:
    """One native trace."""
    words = [draw.choice(["refunded", "order A12", "order", SECRET, "token", "café", "…"]) for _ in range(4)]
    found: dict[str, Any] = {
        "schema": "evalgate.trace/1",
        "scenario_id": f"{draw.choice(['case', 'cat', 'dog'])}-{draw.randrange(6)}",
        "messages": [
            {"role": "user", "content": f"Where is {number}? {'please ' * draw.randrange(60)}"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "name": draw.choice(["lookup_order", "search"]), "arguments": {}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": f"password={SECRET}"},
            {"role": "assistant", "content": " ".join(words)},
        ],
        "tags": {"mood": draw.choice(["calm", "angry"])},
        "latency_seconds": latency if latency is not None else round(draw.uniform(0.1, 2), 3),
        "metadata": {"kind": draw.choice("ab"), "session": f"s{draw.randrange(9)}"},
    }
    if draw.random() < 0.5:
        found["cost_usd"] = round(draw.uniform(0.0, 0.1), 4)
    else:
        found |= {"model": draw.choice(["m-1", "m-2"]), "usage": {"input_tokens": 10, "output_tokens": 5}}
    if draw.random() < 0.3:
        found["trial"] = draw.randrange(50)
    if draw.random() < 0.3:
        found["started_at"] = f"2026-01-01T00:00:{draw.randrange(60):02d}Z"
    if draw.random() < 0.2:
        found[draw.choice(["lantency", "mesages"])] = 1
    if number % 10 == 7:
        found["messages"].pop()
        found["llm_calls"] = [{"error": {"type": "RateLimitError", "message": f"{SECRET} may not call {number}"}}]
    return found
