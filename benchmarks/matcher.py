"""`python benchmarks/matcher.py`: one `tool_sequence` on 10,000 calls against 1,000 steps, in every mode.

CPU seconds of the check alone. To reach: 0.1 s by names, 2 s with arguments.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests"))

from builders import make_trace  # noqa: E402  (tests are no package)
from judging import compiled  # noqa: E402

MODES = ("in_order", "any_order", "exact")
CALLS, STEPS = range(10_000), range(1_000)


def main() -> None:
    """Measures and prints."""
    print(f"{'':44}" + "".join(f"{mode:>20}" for mode in MODES))
    for name, (steps, calls) in cases().items():
        print(f"{name:44}" + "".join(f"{measured(steps, calls, mode):>20}" for mode in MODES), flush=True)


def cases() -> dict[str, tuple[list[Any], list[Any]]]:
    """Steps and calls by what they are."""
    names = [f"tool_{number % 50}" for number in CALLS]
    numbers = searches(CALLS)
    texts = searches(f"order number {number} please" for number in CALLS)
    lists = searches([number, "en"] for number in CALLS)
    each = patterns(f"number {number * 9} " for number in STEPS)
    return {
        "names": (names[: len(STEPS)], names),
        "names, one too many": (["tool_1"] * len(STEPS), ["tool_1"] * (len(STEPS) - 1) + ["x"] * 9_001),
        "plain values": (steps(number * 9 for number in STEPS), numbers),
        "plain values, none fits": (steps(-1 - number for number in STEPS), numbers),
        "lists": (steps([number * 9, "en"] for number in STEPS), lists),
        "patterns": (each, texts),
        "patterns, all but the last fit": ([*each[1:], *patterns(["zz"])], texts),
        "patterns, none fits": (patterns(f"^zz{number}$" for number in STEPS), texts),
        "patterns, parts of each text": (patterns(f"[a-z]+ {number} .*!" for number in STEPS), texts),
        "patterns in one group": ([each], texts),
        "patterns without fixed text": (patterns(f"[{number % 10}]" for number in STEPS), texts),
        "lengths, none fits": (steps({"$len": 1_000 + number} for number in STEPS), texts),
        "lists in any order: what is not looked up": (
            steps({"$unordered": [number * 9, "en"]} for number in STEPS),
            lists,
        ),
    }


def searches(values: Any) -> list[Any]:
    """A call for each value."""
    return [("search", {"q": value}) for value in values]


def steps(values: Any) -> list[Any]:
    """A step for each value."""
    return [{"tool": "search", "args": {"q": value}} for value in values]


def patterns(sources: Any) -> list[Any]:
    """A step for each pattern."""
    return steps({"$regex": source} for source in sources)


def measured(sequence: list[Any], calls: list[Any], mode: str) -> str:
    """CPU seconds of one check, and how it ends."""
    check, trace = (
        compiled({"type": "tool_sequence", "mode": mode, "sequence": sequence}),
        make_trace(calls=calls),
    )
    start = process_time()
    outcome = check.assess(trace).outcome
    return f"{process_time() - start:.3f} s {outcome}"


if __name__ == "__main__":
    main()
