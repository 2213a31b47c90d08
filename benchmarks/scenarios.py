"""The cost of many scenarios apart from their traces: loading them as a baseline, and writing the comment."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import measure
import traces

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
COUNT = 10_000
TIMES = 5


def format_lines(folder: Path) -> list[str]:
    """The results, one line each."""
    from evalgate.adapters.archives.baseline_zip import BaselineZips
    from evalgate.adapters.files.workspace import Workspace
    from evalgate.application.documents.untrusted_report import CommentOptions, write_comment
    from evalgate.reporting.markdown.render import render_summary
    from evalgate.reporting.results.results_json import load_results

    content = many_results(folder)
    document = load_results(content)
    wording = CommentOptions("bench/gate", 60_000, None)
    zips = BaselineZips(Workspace(None, str(folder / "scenarios")))
    zips.create(".", str(folder / "scenarios" / "baseline.zip"))
    loading, from_results = (
        best_time(lambda: zips.load_run("baseline.zip")),
        best_time(lambda: zips.load_run("results.json")),
    )
    comment = best_time(lambda: write_comment(document, wording))
    summary = best_time(lambda: render_summary(document))
    return [
        f"- A baseline of {COUNT:,} scenarios, {len(content) / 1e6:.0f} MB: {loading:.0f} ms (target: 60).",
        f"- The same from its `results.json` alone: {from_results:.0f} ms.",
        f"- Their comment: {comment:.0f} ms; their job summary: {summary:.0f} ms.",
    ]


def many_results(folder: Path) -> bytes:
    """The results of a run in which every trace is a separate scenario."""
    file, output = folder / "scenarios.jsonl", folder / "scenarios"
    traces.write(file, COUNT, scenarios=COUNT)
    words = ["-m", "evalgate", "run", str(HERE / "suite.yaml"), "--traces", str(file), "--no-baseline-zip"]
    measure.once([*words, "--quiet", "--output-dir", str(output)], (0, 1))
    return (output / "results.json").read_bytes()


def best_time(work: Callable[[], object]) -> float:
    """CPU milliseconds, the best of several runs."""
    least = float("inf")
    for _ in range(TIMES):
        before = time.process_time()
        work()
        least = min(least, time.process_time() - before)
    return least * 1e3


if __name__ == "__main__":
    import tempfile

    sys.path.append(str(HERE.parent))
    with tempfile.TemporaryDirectory() as scratch:
        print("\n".join(format_lines(Path(scratch))))
