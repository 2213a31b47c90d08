"""The least a judge could do: decode each line, six checks, a weighted score, one summary.

It reads no suite, knows one format, compares with nothing, explains nothing and trusts its input. The checks
are hard-coded; with `--generic` what they look at is found by expressions, compiled as the gate's are.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

WANTED = ("get_order", "check_policy", "issue_refund")
WEIGHTS = (1, 1, 2, 3, 1, 1)
TOTAL = sum(WEIGHTS)
THRESHOLD = 0.8
ORDER = re.compile(r"order [A-Z]\d{6}\b")
PATHS = (
    *("messages[-1].content", "metadata.status", "messages[].tool_calls[].name"),
    *("cost_usd", "latency_seconds"),
)

Found = tuple[str, str, list[str], float, float]


def read_values(trace: dict[str, Any]) -> Found:
    """The values that the checks look at."""
    messages = trace["messages"]
    names = [call["name"] for message in messages if "tool_calls" in message for call in message["tool_calls"]]
    status = trace["metadata"]["status"]
    return messages[-1]["content"], status, names, trace["cost_usd"], trace["latency_seconds"]


def compile_reader() -> Callable[[dict[str, Any]], Found]:
    """A reader of the same values that uses expressions."""
    from evalgate.measures.jmespath.query import Query

    answer, status, names, cost, latency = (Query(path).search_value for path in PATHS)
    return lambda trace: (answer(trace), status(trace), names(trace), cost(trace), latency(trace))


def in_order(names: list[str]) -> bool:
    """True where the wanted tools are a subsequence of the called ones."""
    rest = iter(names)
    return all(name in rest for name in WANTED)


def weighted_score(found: Found) -> float:
    """The weighted share of checks that pass."""
    answer, status, names, cost, latency = found
    held = (
        "has been refunded" in answer,
        ORDER.search(answer) is not None,
        status == "refunded",
        in_order(names),
        cost <= 0.05,  # noqa: PLR2004 - hard-coded is the point
        latency <= 20,  # noqa: PLR2004 - as above
    )
    return sum(weight for weight, holds in zip(WEIGHTS, held, strict=True) if holds) / TOTAL


def main() -> None:
    """Prints how many traces of a file pass, and the mean score."""
    total = passed = 0
    summed = 0.0
    find = compile_reader() if "--generic" in sys.argv else read_values
    with open(sys.argv[1], "rb") as file:  # noqa: PTH123 - pathlib would be a tenth of the run
        for line in file:
            figure = weighted_score(find(orjson.loads(line)))
            total += 1
            summed += figure
            passed += figure >= THRESHOLD
    print(f'{{"traces": {total}, "passed": {passed}, "score": {summed / total:.9f}}}')


if __name__ == "__main__":
    main()
