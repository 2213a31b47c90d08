"""The least a judge could do: decode each line, six hard-coded checks, a weighted score, one summary.

It reads no suite, knows one format, compares with nothing, explains nothing and trusts its input.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import orjson

WANTED = ("get_order", "check_policy", "issue_refund")
WEIGHTS = (1, 1, 2, 3, 1, 1)
TOTAL = sum(WEIGHTS)
THRESHOLD = 0.8
ORDER = re.compile(r"order [A-Z]\d{6}\b")


def in_order(names: list[str]) -> bool:
    """True where the wanted tools are a subsequence of the called ones."""
    rest = iter(names)
    return all(name in rest for name in WANTED)


def score(trace: dict[str, Any]) -> float:
    """The weighted share of checks that hold."""
    messages = trace["messages"]
    answer = messages[-1]["content"]
    names = [
        call["name"] for message in messages if "tool_calls" in message for call in message["tool_calls"]
    ]
    held = (
        "has been refunded" in answer,
        ORDER.search(answer) is not None,
        trace["metadata"]["status"] == "refunded",
        in_order(names),
        trace["cost_usd"] <= 0.05,  # noqa: PLR2004 - hard-coded is the point
        trace["latency_seconds"] <= 20,  # noqa: PLR2004 - as above
    )
    return sum(weight for weight, holds in zip(WEIGHTS, held, strict=True) if holds) / TOTAL


def main() -> None:
    """Prints how many traces of a file pass, and the mean score."""
    total = passed = 0
    summed = 0.0
    with open(sys.argv[1], "rb") as file:  # noqa: PTH123 - pathlib would be a tenth of the run
        for line in file:
            figure = score(orjson.loads(line))
            total += 1
            summed += figure
            passed += figure >= THRESHOLD
    print(f'{{"traces": {total}, "passed": {passed}, "score": {summed / total:.9f}}}')


if __name__ == "__main__":
    main()
