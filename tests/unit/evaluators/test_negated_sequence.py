"""A sequence that must not happen says once what happened, and a condition that holds is named."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import assess
from builders import make_trace

CALLS = ["get", "refund", "get", "check"]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"sequence": ["refund", "check"]}, "`refund` then `check` must not happen, but did (calls 2, 4)"),
        ({"sequence": ["check"]}, "`check` must not be called, but was (call 4)"),
        (
            {"sequence": ["check", "get"], "mode": "any_order"},
            "`check` and `get` must not happen, but did (calls 1, 4)",
        ),
        (
            {"sequence": CALLS, "mode": "exact"},
            "only `get` then `refund` then `get` then `check` must not happen, but did (calls 1, 2, 3, 4)",
        ),
    ],
)
def test_a_negated_sequence_names_the_steps_and_the_calls_once(settings: dict[str, Any], reason: str) -> None:
    found = assess({"not": {"type": "tool_sequence", **settings}}, make_trace(calls=CALLS))
    assert (found.outcome, found.reason) == ("failed", reason)


def test_a_negated_check_does_not_repeat_its_name() -> None:
    found = assess({"not": {"type": "not_empty"}}, make_trace())
    assert (found.name, found.reason) == ("not: answer is not empty", "must not hold, but does")


def test_a_negated_check_with_a_name_of_its_own_says_what_it_forbids() -> None:
    raw = {"not": {"type": "not_empty"}, "name": "says nothing"}
    assert assess(raw, make_trace()).reason == "must not hold, but does: answer is not empty"


def test_a_failed_group_names_its_condition() -> None:
    raw = {"when": {"type": "tool_called", "tool": "get"}, "then": [{"type": "no_tool", "tool": "check"}]}
    found = assess(raw, make_trace(calls=CALLS))
    assert found.name == "when tool get called: no call of check"
    assert found.reason == "`check` must not be called, but was (call 4)"


def test_an_alternative_is_named_whole() -> None:
    names = ["calculate", "search_direct_flight", "transfer_to_human_agents", "cancel_reservation"]
    found = assess({"type": "tool_sequence", "sequence": [{"one_of": names}]}, make_trace())
    assert found.name == f"tools in_order: {' or '.join(names)}"
