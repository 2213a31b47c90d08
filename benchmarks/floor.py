"""The least a generic judge could do: decode each line, find values by expressions, six checks, a score, one summary.

It knows one format, compares with nothing, explains nothing, writes no reports and trusts its input. Closures that
are compiled from jmespath's own parse tree find the values.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
from typing import TYPE_CHECKING, Any

import jmespath
import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    Find = Callable[[Any], Any]

PATHS = (
    *("messages[-1].content", "metadata.status", "messages[].tool_calls[].name"),
    *("cost_usd", "latency_seconds"),
)
WANTED = ("get_order", "check_policy", "issue_refund")
WEIGHTS = (1, 1, 2, 3, 1, 1)
TOTAL = sum(WEIGHTS)
THRESHOLD = 0.8
MAX_COST_USD = 0.05
MAX_SECONDS = 20
ORDER = re.compile(r"order [A-Z]\d{6}\b")


def compile_tree(node: Any) -> Find:
    """A closure for a node of jmespath's parse tree."""
    kind, value = node["type"], node.get("value")
    if kind == "field":
        return lambda found: found.get(value) if type(found) is dict else None
    if kind == "index":
        return lambda found: found[value] if type(found) is list and found else None
    if kind == "identity":
        return lambda found: found
    parts = list(map(compile_tree, node["children"]))
    if kind in {"subexpression", "index_expression"}:
        return _compile_steps(parts)
    if kind == "flatten":
        return _compile_flatten(*parts)
    if kind == "projection":
        return _compile_projection(*parts)
    raise NotImplementedError(kind)


def _compile_steps(parts: list[Find]) -> Find:
    def find(found: Any) -> Any:
        for part in parts:
            found = part(found)
        return found

    return find


def _compile_flatten(inner: Find) -> Find:
    def find(found: Any) -> Any:
        flat: list[Any] = []
        for each in inner(found) or ():
            if type(each) is list:
                flat += each
            else:
                flat.append(each)
        return flat

    return find


def _compile_projection(left: Find, right: Find) -> Find:
    return lambda found: [got for each in left(found) if (got := right(each)) is not None]


def in_order(names: list[str]) -> bool:
    """True where the wanted tools are a subsequence of the called ones."""
    rest = iter(names)
    return all(name in rest for name in WANTED)


def weighted_score(answer: str, status: str, names: list[str], cost: float, latency: float) -> float:
    """The weighted share of checks that pass."""
    checks = (
        "has been refunded" in answer,
        ORDER.search(answer) is not None,
        status == "refunded",
        in_order(names),
        cost <= MAX_COST_USD,
        latency <= MAX_SECONDS,
    )
    return sum(weight for weight, passed in zip(WEIGHTS, checks, strict=True) if passed) / TOTAL


def main() -> None:
    """Prints how many traces of a file pass, and the mean score."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    path = parser.parse_args().file
    gc.disable()
    total = passed = 0
    summed = 0.0
    answer, status, names, cost, latency = (compile_tree(jmespath.compile(each).parsed) for each in PATHS)
    with open(path, "rb", buffering=1 << 20) as file:  # noqa: PTH123 - pathlib would be a tenth of the run
        for line in file:
            trace = orjson.loads(line)
            score = weighted_score(answer(trace), status(trace), names(trace), cost(trace), latency(trace))
            total += 1
            summed += score
            passed += score >= THRESHOLD
    print(json.dumps({"traces": total, "passed": passed, "score": round(summed / total, 9)}))


if __name__ == "__main__":
    main()
