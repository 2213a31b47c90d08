"""The CPU time of reading traces, in times of what orjson takes to decode the same bytes; prints that figure.

python benchmarks/reading.py FOLDER
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from evalgate.bootstrap.sources import build_trace_files

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 7


def main() -> None:
    """Reads all files of a folder a few times both ways."""
    folder = Path(sys.argv[1])
    files = sorted(folder.iterdir())
    least_ours = least(lambda: sum(1 for _ in build_trace_files(str(folder)).read(["*"], "")))
    print(f"{least_ours / least(lambda: [decode(each) for each in files]):.1f}")


def decode(file: Path) -> None:
    """Decodes a file as one document, or each of its lines."""
    data = file.read_bytes()
    for part in data.splitlines() if file.suffix == ".jsonl" else [data]:
        orjson.loads(part)


def least(work: Callable[[], object]) -> float:
    """The least CPU seconds of a few repeats."""
    found = []
    for _ in range(REPEATS):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


if __name__ == "__main__":
    main()
