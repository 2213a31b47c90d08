"""The six checks of suite.yaml on a decoded trace, for tools whose users write checks in Python."""

from __future__ import annotations

import re
from typing import Any

WANTED = ("get_order", "check_policy", "issue_refund")
WEIGHTS = {"contains": 1, "regex": 1, "status": 2, "sequence": 3, "cost": 1, "latency": 1}
THRESHOLD = 0.8
MAX_COST_USD = 0.05
MAX_SECONDS = 20
ORDER = re.compile(r"order [A-Z]\d{6}\b")


def contains(trace: dict[str, Any]) -> bool:
    """Whether the answer has the words."""
    return "has been refunded" in trace["messages"][-1]["content"]


def regex(trace: dict[str, Any]) -> bool:
    """Whether the answer names an order."""
    return ORDER.search(trace["messages"][-1]["content"]) is not None


def status(trace: dict[str, Any]) -> bool:
    """Whether the order is refunded."""
    return trace["metadata"]["status"] == "refunded"


def called(trace: dict[str, Any]) -> list[str]:
    """The names of the called tools."""
    return [call["name"] for message in trace["messages"] for call in message.get("tool_calls") or ()]


def sequence(trace: dict[str, Any]) -> bool:
    """Whether the wanted tools were called in order."""
    rest = iter(called(trace))
    return all(name in rest for name in WANTED)


def cost(trace: dict[str, Any]) -> bool:
    """Whether the run was cheap enough."""
    return trace["cost_usd"] <= MAX_COST_USD


def latency(trace: dict[str, Any]) -> bool:
    """Whether the run was quick enough."""
    return trace["latency_seconds"] <= MAX_SECONDS


def passes(results: dict[str, bool]) -> bool:
    """Whether the weighted share of passed checks reaches the threshold."""
    reached = sum(weight for name, weight in WEIGHTS.items() if results[name])
    return reached / sum(WEIGHTS.values()) >= THRESHOLD
