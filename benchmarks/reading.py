"""The CPU cost of reading a JSON Lines file into canonical traces, compared with decoding alone.

Decoding is the strict decoding of every line, and of the JSON texts that chat traces hold as arguments.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import traces

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.core.strict_json import decode
from evalgate.adapters.formats.open.trace_files import TraceFiles

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = 4_000
TIMES = 5
TARGET = 2.0


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, shaped in (("native", None), ("openai-chat", traces.chat)):
            print_reading(name, shaped, Path(scratch))


def print_reading(name: str, shaped: Callable[[dict[str, Any]], dict[str, Any]] | None, folder: Path) -> None:
    """Prints the cost of one format in one line."""
    path = folder / f"{name}.jsonl"
    recorded = (traces.trace(number) for number in range(COUNT))
    path.write_text("".join(json.dumps(shaped(each) if shaped else each) + "\n" for each in recorded))
    lines = path.read_bytes().splitlines()
    inner = [text.encode() for line in lines for text in call_arguments(json.loads(line))] if shaped else []
    decoding = best_time(lambda: [decode(data) for data in (*lines, *inner)])
    reading = best_time(lambda: [None for _ in TraceFiles(Workspace(None, str(folder))).read([path.name], "")])
    adds = (reading - decoding) / decoding
    print(
        f"{name:12} decoding {decoding:5.1f} us, reading {reading:5.1f} us a trace: "
        f"adds {adds:.1f}x (target <= {TARGET:.0f}x)"
    )


def call_arguments(conversation: dict[str, Any]) -> list[str]:
    """The JSON texts inside a chat trace."""
    calls = [call for message in conversation["messages"] for call in message.get("tool_calls", [])]
    return [call["function"]["arguments"] for call in calls]


def best_time(work: Callable[[], object]) -> float:
    """Microseconds per trace, the best of several runs."""
    least = float("inf")
    for _ in range(TIMES):
        before = time.process_time()
        work()
        least = min(least, time.process_time() - before)
    return least / COUNT * 1e6


if __name__ == "__main__":
    main()
