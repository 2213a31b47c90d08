"""An expression that compares a number with text: JMESPath has no order of them, and drops the comparison."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import assess, outcome
from builders import make_trace

from evalgate.measures.jmespath.query import Query, UnsureQueryError


def refunds(*amounts: Any) -> Any:
    calls = [("issue_refund", {"amount": each, "order": "A7"}) for each in amounts]
    return make_trace(calls=[("lookup_order", {"order": "A7"}), *calls])


ABOVE = "tool_calls[?name == 'issue_refund' && arguments.amount > `100`]"
NONE_ABOVE = {"path": ABOVE, "length": 0}


@pytest.mark.parametrize(
    "amount", [5000, "5000", "5e3", "5,000.00", "$5000", "5000 USD", "EUR 5,000", "\u20ac5000", " 5000 "]
)
def test_no_refund_above_a_limit__counts_one_whose_amount_is_text(amount: Any) -> None:
    assert outcome(NONE_ABOVE, refunds(amount)) == "failed"


@pytest.mark.parametrize("amount", [42.5, "42.5", "$42", None, "n/a", "all of it", "", True, [], {}, "order 5000"])
def test_no_refund_above_a_limit__passes_without_one(amount: Any) -> None:
    assert outcome(NONE_ABOVE, refunds(amount)) == "passed"


def test_a_field_that_no_call_has_is_left_out() -> None:
    assert outcome(NONE_ABOVE, make_trace(calls=[("issue_refund", {"order": "A7"})])) == "passed"


TOO_HIGH = [
    {"path": f"length({ABOVE})", "eq": 0},
    {"path": f"{ABOVE} | [0]", "exists": False},
    {"not": {"path": ABOVE, "length": {"gte": 1}}},
    {"path": "tool_calls[?arguments.amount == `5000`]", "length": 0},
    {"path": "tool_calls[?!(arguments.amount <= `100`) && name == 'issue_refund']", "length": 0},
    {"path": "tool_calls[?`100` < arguments.amount]", "length": 0},
    {"path": "tool_calls[?arguments.amount > '600']", "length": 0},
    {"path": "max(tool_calls[].arguments.amount) > `100`", "eq": False},
    {"path": "tool_calls[?arguments.amount < `100` || arguments.amount > `100`]", "length": {"lt": 1}},
    {"when": {"path": ABOVE, "length": {"gte": 1}}, "then": [{"type": "tool_called", "tool": "ask_a_person"}]},
    {"path": f"{ABOVE} | [0].arguments.order", "eq": "B8", "on_missing": "skip"},
    {"type": "ends_with", "path": f"{ABOVE} | [0].arguments.order", "value": "B8", "on_missing": "skip"},
]


@pytest.mark.parametrize("check", TOO_HIGH)
def test_no_check_passes_or_is_skipped_because_an_amount_is_text(check: Any) -> None:
    assert outcome(check, refunds("5000")) in ("failed", "error")


def test_the_reason_says_that_text_counted() -> None:
    assert "text that is a number counts as one" in assess(NONE_ABOVE, refunds("5000")).reason
    assert "counts as one" not in assess(NONE_ABOVE, refunds(5000)).reason


def test_text_is_still_no_number_where_one_is_demanded() -> None:
    assert outcome({"path": ABOVE, "length": 1}, refunds("5000")) == "failed"
    assert outcome({"path": ABOVE, "length": 1}, refunds(5000)) == "passed"


HONEST: list[tuple[Any, Any]] = [
    ({"path": "tool_calls[?arguments.amount != `7`]", "length": {"gte": 1}}, refunds("5000")),
    ({"path": "tool_calls[?arguments.order == 'A7']", "length": 2}, refunds(5)),
    ({"path": "tool_calls[?arguments.amount == '007']", "length": 0}, refunds("7")),
    ({"path": "tool_calls[?arguments.amount >= '2026-11-01']", "length": 1}, refunds("2026-11-29", "2026-10-31")),
    ({"path": "tool_calls[?arguments.amount > `100`]", "length": {"lte": 1}}, refunds("5000", 5)),
    ({"not": {"path": ABOVE, "length": {"gte": 1}}}, refunds("42.5", None)),
]


@pytest.mark.parametrize(("check", "trace"), HONEST)
def test_what_text_does_not_decide_passes(check: Any, trace: Any) -> None:
    assert outcome(check, trace) == "passed"


def test_state__counts_text_that_is_a_number() -> None:
    trace = make_trace(state={"after": {"orders": [{"refunded": "5000"}]}})
    assert outcome({"type": "state", "path": "orders[?refunded > `100`]", "length": 0}, trace) == "failed"
    assert outcome({"type": "state", "path": "orders[?refunded > `9000`]", "length": 0}, trace) == "passed"


def test_a_query_fails_where_a_comparison_with_text_decides() -> None:
    query = Query("steps[?kind == `2` && !skipped].name")
    assert query.search_value({"steps": [{"kind": 2, "name": "a"}, {"kind": "3", "name": "b"}, {"name": "c"}]}) == ["a"]
    with pytest.raises(UnsureQueryError, match="text with a number"):
        query.search_value({"steps": [{"kind": "2", "name": "a"}]})


@pytest.mark.parametrize("member", [{"n": None}, {"n": [7]}, {"n": {}}, {"n": False}, {"n": "seven"}, {}])
@pytest.mark.parametrize("condition", ["n != `7`", "!(n == `7`)", "n != `7` || n == `8`"])
def test_both_readings_are_one_where_nothing_is_text_of_a_number(condition: str, member: Any) -> None:
    assert Query(f"[?{condition}]").search_value([member]) == [member]
