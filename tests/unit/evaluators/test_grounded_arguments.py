"""`grounded_arguments`: what it judges, which sources count, what it says, and what loosens it."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import compile_assertion
from builders import make_call, make_message, make_trace

from evalgate.gate.weakening.implication import is_implied, parse_requirement

LOOKUP = make_call("lookup", {}, result={"order_id": "W2378156", "amount": 48.0, "to": "ann@example.com"})


def judge(
    given: dict[str, Any], /, tool: str = "issue_refund", user: str = "Refund it", **fields: Any
) -> tuple[str, str]:
    """The outcome and the reason for a call that passes the arguments after a look-up."""
    trace = make_trace([LOOKUP, make_call(tool, given, index=1)])
    trace.messages = [make_message(content=user)]
    found = compile_assertion({"type": "grounded_arguments", "tools": ["issue_*"], **fields}).assess(trace)
    return found.outcome, found.reason


def test_values_of_results_pass() -> None:
    assert judge({"order_id": "#W2378156", "amount": 48, "express": True, "count": 2}) == (
        "passed",
        "2 values have a source",
    )
    assert judge({"order_id": "W9"}, tool="other") == ("passed", "no call of `issue_*`")


def test_the_reason_names_the_nearest() -> None:
    assert judge({"amount": 480.0}) == (
        "failed",
        'call 2 `issue_refund`: `amount` `480.0` stands neither in the request nor in a result (nearest: `"48"`, result of call 1 (`lookup`))',
    )


@pytest.mark.parametrize(
    ("arguments", "fields", "outcome"),
    [
        ({"order_id": "W1111111"}, {}, "failed"),
        ({"order_id": "W1111111", "amount": 48}, {"arguments": ["amount"]}, "passed"),
        ({"items": [{"id": "W1111111"}], "amount": 48}, {"arguments": ["items"]}, "failed"),
        ({"items": [{"id": "W1111111"}], "amount": 48}, {"arguments": ["items.id"]}, "failed"),
        ({"items": [{"id": "W1111111"}], "amount": 48}, {"except": ["items.id"]}, "passed"),
        ({"order_id": "W1111111", "amount": 48}, {"except": ["order_id"]}, "passed"),
        ({"order_id": "W2378156"}, {"from": ["user"]}, "failed"),
        ({"order_id": "W2378156"}, {"from": ["user", "results"]}, "passed"),
        ({"reason": "no longer needed"}, {}, "failed"),
        ({"reason": "No longer needed"}, {"allow": {"reason": ["no longer needed"]}}, "passed"),
        ({"other": "no longer needed"}, {"allow": {"reason": ["no longer needed"]}}, "failed"),
        ({"note": "the customer called and we will refund the whole order"}, {}, "passed"),
        ({"note": "the customer called and we will refund the whole order"}, {"arguments": ["note"]}, "failed"),
        ({"order_id": "W1111111"}, {"negate": True}, "passed"),
    ],
)
def test_what_is_judged(arguments: dict[str, Any], fields: dict[str, Any], outcome: str) -> None:
    assert judge(arguments, **fields)[0] == outcome


def test_a_name_that_is_written_alike_is_judged() -> None:
    assert judge({"order_id": "W1111111"}, tool="functions.Issue_refund")[0] == "failed"


def test_what_is_missing_is_not_evaluable() -> None:
    check = compile_assertion({"type": "grounded_arguments", "tools": ["send"]})
    missing = make_call("lookup", {}, status="missing")
    trace = make_trace([missing, make_call("send", {"id": "W1111111"}, index=1)])
    assert check.assess(trace).reason == (
        'call 2 `send`: `id` `"W1111111"` may come from elsewhere: the result of call 1 is not recorded'
    )
    trace = make_trace([make_call("send", {"id": "W1"})])
    trace.tool_calls[0]["arguments"] = None
    assert check.assess(trace).outcome == "not_evaluable"
    trace = make_trace([make_call("send", {"id": "Hello"})])
    trace.gaps = {"messages": "cut"}
    assert check.assess(trace).outcome == "passed"
    trace.gaps = {"calls": "cut"}
    assert check.assess(trace).outcome == "not_evaluable"


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        ({"tools": ["a"]}, {"tools": ["a", "b"]}),
        ({"tools": ["a"]}, {"tools": ["*"]}),
        ({"arguments": ["x"]}, {"arguments": ["x", "y"]}),
        ({"except": ["x"]}, {}),
        ({"except": ["x", "y"]}, {"except": ["x"]}),
        ({"from": ["user", "results"]}, {"from": ["user"]}),
        ({}, {"from": ["user"]}),
        ({"allow": {"x": ["a"]}}, {}),
        ({"allow": {"x": ["a", "b"]}}, {"allow": {"x": ["a"]}}),
        ({"allow": {"x": ["*", "b"]}}, {"allow": {"x": ["*"]}}),
    ],
)
def test_order(weaker: dict[str, Any], stronger: dict[str, Any]) -> None:
    less, more = (
        parse_requirement({"type": "grounded_arguments", "tools": ["a"], **fields}) for fields in (weaker, stronger)
    )
    assert less is not None
    assert more is not None
    assert is_implied(less, more)
    assert not is_implied(more, less)


def test_all_arguments_and_named_ones_have_no_order() -> None:
    named, every = (
        parse_requirement({"type": "grounded_arguments", "tools": ["a"], **fields})
        for fields in ({"arguments": ["n"]}, {})
    )
    assert named is not None
    assert every is not None
    assert not is_implied(named, every)
    assert not is_implied(every, named)
