"""`init` offers what all passing trials left behind, and nothing where they differ."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import outcome
from builders import make_trace

from evalgate.features.learn.application.inference.draft import SuiteHead
from evalgate.features.learn.application.inference.infer import infer_suite
from evalgate.features.learn.application.inference.shared_values import expect_state

BEFORE = {"orders": {"A7": {"status": "paid"}, "B2": {"status": "paid"}}, "cart": {"x": 1}}


def state(status: Any = "refunded", *, cart: Any = None, **more: Any) -> dict[str, Any]:
    orders = {"A7": {"status": status}, "B2": {"status": "paid"}}
    return {"before": BEFORE, "after": {"orders": orders, **({"cart": cart} if cart is not None else {})}, **more}


def expect(*states: Any) -> list[dict[str, Any]]:
    return [each.entry for each in expect_state([make_trace(state=each) for each in states])]


def test_where_trials_agree_the_records_and_their_values_are_expected() -> None:
    found = expect(state(), state())
    assert found == [
        {"type": "state_unchanged", "except": ["cart", "orders.A7.status"]},
        {"type": "state", "path": "cart", "exists": False},
        {"type": "state", "path": "orders.A7.status", "eq": "refunded"},
    ]
    assert all(outcome(each, make_trace(state=state())) == "passed" for each in found)
    second = state()
    second["after"]["orders"]["B2"] = {"status": "refunded"}
    assert outcome(found[0], make_trace(state=second)) == "failed"


def test_a_value_that_differs_is_not_expected() -> None:
    assert expect(state("a", cart={"x": 1}), state("b", cart={"x": 1})) == [
        {"type": "state_unchanged", "except": ["orders.A7.status"]}
    ]
    assert expect(state("[time]", cart={"x": 1})) == [{"type": "state_unchanged", "except": ["orders.A7.status"]}]


@pytest.mark.parametrize("other", [None, {}, {"after": 1}, state(cart={"x": 1}), {"outage": "lost"}])
def test_where_trials_differ_or_one_is_not_known_nothing_is_expected(other: Any) -> None:
    assert expect(state(), other) == []
    assert expect() == []


def test_a_state_that_nothing_changed_stays_so() -> None:
    same = {"before": BEFORE, "after": BEFORE}
    assert expect(same, same) == [{"type": "state_unchanged"}]


def test_a_change_that_a_mask_hides_is_excepted() -> None:
    hidden = {"before": BEFORE, "after": BEFORE, "diff": [{"op": "replace", "path": "/cart/x", "value": 1}]}
    assert expect(hidden)[0] == {"type": "state_unchanged", "except": ["cart.x"]}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["out/a"], [{"type": "files_changed", "only": ["out/a"]}]),
        ([], [{"type": "files_changed", "only": []}]),
        (["out/*"], []),
        ([f"f{number}" for number in range(21)], []),
    ],
)
def test_files_that_all_trials_change_are_the_only_ones(changed: list[str], expected: list[Any]) -> None:
    files = {"files": {"kept": {}, **{path: {"change": "added"} for path in changed}}}
    assert expect(files, files) == expected
    assert expect(files, {"files": {"other": {"change": "added"}}}) == []


def test_a_suite_that_init_writes_has_them() -> None:
    traces = [make_trace(state=state(), trial=number, trace_id=str(number)) for number in range(3)]
    text, _ = infer_suite(traces, SuiteHead("s", ["t"]), "normal").render()
    assert "{type: state_unchanged, except: [cart, orders.A7.status]}" in text
