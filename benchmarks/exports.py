"""The time to write 1,000 evaluated turns as JSON Lines, CSV and a summary, and to read them back."""

from __future__ import annotations

import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evalgate.features.store.reporting.dataset.evaluation_csv import encode_evaluation_csv, read_evaluation_csv
from evalgate.features.store.reporting.dataset.evaluation_jsonl import encode_evaluations, read_evaluation_lines
from evalgate.features.store.reporting.dataset.metrics import MetricsRequest, compute_metrics
from evalgate.models.goldens import ExportedEvaluation, GoldenSummary
from evalgate.models.run.golden import (
    DIMENSIONS,
    EvaluationStatistics,
    GoldenEvaluation,
    Issue,
    TurnResult,
)

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRIES, TURNS, REPEATS = 1_000, 4, 7
START = datetime(2025, 12, 31, 22, 40, 49, tzinfo=UTC)
WORDS = ("the", "refund", "is", "on", "its", "way", "and", "you", "will", "have", "it", "in", "three", "days")


def make_evaluation(number: int, chance: random.Random) -> ExportedEvaluation:
    """A conversation of a few turns, each with a tool call and now and then an issue."""

    def words(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    def turn(place: int) -> TurnResult:
        flaws = (Issue("tone", "warning", words(6), None, place),) if chance.random() < 0.2 else ()  # noqa: PLR2004
        scores = {name: round(chance.random(), 3) for name in DIMENSIONS}
        return TurnResult(
            *(words(15), words(60), words(60), scores, 900.0, 400, 0.01),
            *((), ("lookup_order",), ({"id": number},), flaws, (words(8),)),
        )

    turns = tuple(turn(place) for place in range(TURNS))
    scores = {name: round(chance.random(), 3) for name in DIMENSIONS}
    scored = GoldenEvaluation(
        *(f"e{number}", f"golden-{number % 50}", 1, "support", 0.9, "good", scores),
        *(
            EvaluationStatistics(TURNS, 900.0, 1600, 0.04, 1, 0, 1.0),
            "bench",
            START + timedelta(minutes=number),
        ),
        turns=turns,
        regression_status="pass",
    )
    return ExportedEvaluation(scored, GoldenSummary(words(5), "task_execution", "helpful", f"talk-{number}"))


def best_time(work: Callable[[], object]) -> float:
    """CPU milliseconds, the best of several runs."""
    times = []
    for _ in range(REPEATS):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times) * 1000


def main() -> None:
    """Prints a table."""
    chance = random.Random(7)
    found = [make_evaluation(number, chance) for number in range(ENTRIES // TURNS)]
    rows = [make_evaluation(number, chance) for number in range(ENTRIES)]
    lines, text = list(encode_evaluations(found)), encode_evaluation_csv(rows)
    jobs = {
        f"{len(lines):,} JSON lines written": lambda: b"".join(encode_evaluations(found)),
        f"{len(lines):,} JSON lines read": lambda: read_evaluation_lines(lines, "x"),
        f"{ENTRIES:,} rows of CSV written": lambda: encode_evaluation_csv(rows),
        f"{ENTRIES:,} rows of CSV read": lambda: read_evaluation_csv(text, "x"),
        f"summary of {ENTRIES:,} evaluations": lambda: compute_metrics(rows, [], MetricsRequest()),
    }
    for name, work in jobs.items():
        print(f"{name:34} {best_time(work):7.1f} ms")


if __name__ == "__main__":
    main()
