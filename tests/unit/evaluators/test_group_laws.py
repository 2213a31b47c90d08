"""Groups of checks behave as documented, for every mix of outcomes."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from assess_assertion import outcome
from builders import make_trace

TRACE = make_trace(calls=["a"])
CALLED = {"type": "tool_called", "tool": "a"}
MEMBERS: dict[str, dict[str, Any]] = {
    "passed": CALLED,
    "failed": {"type": "tool_called", "tool": "b"},
    "not_evaluable": {"type": "cost_limit", "max_usd": 1},
    "error": {"path": "sum(tool_calls)", "gt": 1},
    "skipped": {"when": {"type": "tool_called", "tool": "b"}, "then": [CALLED]},
}
MIXES = [mix for size in (1, 2, 3) for mix in product(MEMBERS, repeat=size)]


def first_of(order: list[str], mix: list[str], otherwise: str) -> str:
    return next((each for each in order if each in mix), otherwise) if mix else "skipped"


def counted(mix: list[str], k: int) -> str:
    if not mix or mix.count("passed") >= k:
        return "passed" if mix else "skipped"
    if len(mix) - mix.count("failed") < k:
        return "failed"
    return first_of(["error"], mix, "not_evaluable")


def all_of(mix: list[str]) -> str:
    return first_of(["failed", "error", "not_evaluable"], mix, "passed")


@pytest.mark.parametrize("member", MEMBERS)
def test_member__has_the_outcome_of_its_name(member: str) -> None:
    assert outcome(MEMBERS[member], TRACE) == member


@pytest.mark.parametrize("mix", MIXES, ids="-".join)
def test_group__has_the_outcome_of_its_members(mix: tuple[str, ...]) -> None:
    members, left = [MEMBERS[each] for each in mix], [each for each in mix if each != "skipped"]
    assert outcome({"all_of": members}, TRACE) == all_of(left)
    assert outcome({"any_of": members}, TRACE) == first_of(["passed", "error", "not_evaluable"], left, "failed")
    for k in range(1, len(mix) + 1):
        assert outcome({"at_least": {"k": k, "of": members}}, TRACE) == counted(left, k)
    for condition, member in MEMBERS.items():
        expected = {"passed": all_of(left), "failed": "skipped"}.get(condition, condition)
        assert outcome({"when": member, "then": members}, TRACE) == expected
