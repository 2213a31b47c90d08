"""`python benchmarks/matcher.py`: one `tool_sequence` on 10,000 calls against 1,000 steps, in every mode.

CPU seconds of the check alone. Target: 0.1 s by names, 2 s with arguments.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests"))

from assess_assertion import compile_assertion  # noqa: E402
from builders import make_trace  # noqa: E402  (tests are no package)

MODES = ("in_order", "any_order", "exact")
CALLS, STEPS = range(10_000), range(1_000)


def main() -> None:
    """Measures and prints."""
    print(f"{'':44}" + "".join(f"{mode:>20}" for mode in MODES))
    for name, (sequence, calls) in make_cases().items():
        print(f"{name:44}" + "".join(f"{measure(sequence, calls, mode):>20}" for mode in MODES), flush=True)


def make_cases() -> dict[str, tuple[list[Any], list[Any]]]:
    """The sequences and calls, by name."""
    names = [f"tool_{number % 50}" for number in CALLS]
    numbers = make_calls(CALLS)
    texts = make_calls(f"order number {number} please" for number in CALLS)
    lists = make_calls([number, "en"] for number in CALLS)
    each = make_patterns(f"number {number * 9} " for number in STEPS)
    return {
        "names": (names[: len(STEPS)], names),
        "names, one too many": (["tool_1"] * len(STEPS), ["tool_1"] * (len(STEPS) - 1) + ["x"] * 9_001),
        "plain values": (make_steps(number * 9 for number in STEPS), numbers),
        "plain values, no match": (make_steps(-1 - number for number in STEPS), numbers),
        "lists": (make_steps([number * 9, "en"] for number in STEPS), lists),
        "patterns": (each, texts),
        "patterns, all but the last match": ([*each[1:], *make_patterns(["zz"])], texts),
        "patterns, no match": (make_patterns(f"^zz{number}$" for number in STEPS), texts),
        "patterns, parts of each text": (make_patterns(f"[a-z]+ {number} .*!" for number in STEPS), texts),
        "patterns in one group": ([each], texts),
        "patterns without fixed text": (make_patterns(f"[{number % 10}]" for number in STEPS), texts),
        "lengths, no match": (make_steps({"$len": 1_000 + number} for number in STEPS), texts),
        "lists in any order: what is not looked up": (
            make_steps({"$unordered": [number * 9, "en"]} for number in STEPS),
            lists,
        ),
    }


def make_calls(values: Any) -> list[Any]:
    """Makes a call for each value."""
    return [("search", {"q": value}) for value in values]


def make_steps(values: Any) -> list[Any]:
    """Makes a step for each value."""
    return [{"tool": "search", "args": {"q": value}} for value in values]


def make_patterns(sources: Any) -> list[Any]:
    """Makes a step for each pattern."""
    return make_steps({"$regex": source} for source in sources)


def measure(sequence: list[Any], calls: list[Any], mode: str) -> str:
    """CPU seconds of one check, and its outcome."""
    check, trace = (
        compile_assertion({"type": "tool_sequence", "mode": mode, "sequence": sequence}),
        make_trace(calls=calls),
    )
    start = process_time()
    outcome = check.assess(trace).outcome
    return f"{process_time() - start:.3f} s {outcome}"


if __name__ == "__main__":
    main()
