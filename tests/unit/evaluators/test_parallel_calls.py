"""Trials that differ only in the order of the calls of one message fail for one and the same reason."""

from itertools import permutations

import pytest
from assess_assertion import assess
from builders import make_call, make_trace

from evalgate.reporting.text.wording import list_reasons
from evalgate.scoring.run_end import build_failed_check

CALLS = {
    "get_member": {"id": "M-17"},
    "search_catalog": {"title": "Dune"},
    "list_shelves": {"floor": 2},
}
PARALLEL = [
    {"type": "tool_called", "tool": "lend_book"},
    {"type": "expected_tool", "expected_tool": "lend_book"},
    {"type": "allowed_tools", "tools": ["send_notice"]},
    {"type": "allowed_tools", "tools": ["send_notice", "list_shelves"]},
    {"type": "forbidden_tools", "tools": ["get_*", "search_*"]},
    {"type": "tool_calls", "max_tool_errors": 0},
    {"type": "tool_arguments", "tool": "*", "schema": {"required": ["note"]}},
    {"type": "grounded_arguments", "tools": ["*"]},
    {"type": "tool_sequence", "sequence": ["get_member", "send_notice"], "mode": "exact"},
    {"type": "tool_sequence", "sequence": ["send_notice"], "mode": "exact"},
    {"type": "tool_sequence", "sequence": ["lend_book", "send_notice"]},
    {"type": "tool_sequence", "sequence": ["send_notice", "get_member"]},
    {"type": "tool_sequence", "sequence": ["lend_book", "send_notice"], "mode": "any_order"},
    {"type": "tool_sequence", "sequence": [["get_member", "find_book"], "send_notice"]},
    {"type": "tool_sequence", "sequence": [["find_book", "get_member"], "send_notice"], "mode": "exact"},
    {"when": {"type": "tool_called", "tool": "get_member"}, "then": [{"type": "tool_called", "tool": "lend_book"}]},
]


def _list_orders():
    for order in permutations(CALLS):
        calls = [make_call(name, CALLS[name], index=at) for at, name in enumerate(order)]
        for call in calls:
            call["step"], call["status"] = 1, "error"
            call["error"] = {"type": "error", "message": f"{call['name']} is down"}
        last = make_call("send_notice", {"to": "M-17"}, index=len(calls))
        last["step"] = 2
        yield [*calls, last]


@pytest.mark.parametrize("raw", PARALLEL)
def test_one_reason__of_trials_that_differ_in_the_order_of_parallel_calls(raw):
    found = [assess(raw, make_trace(calls)) for calls in _list_orders()]

    assert {each.outcome for each in found} == {"failed"}
    assert len(list_reasons([each.reason for each in found], len(found), len(found))) == 1


def test_one_reason__of_a_run_that_ended_after_parallel_calls():
    traces = [make_trace(calls[:-1], response=None) for calls in _list_orders()]
    (reason,) = {build_failed_check(each, None, has_weight=True).reason for each in traces}

    assert "after calls 1 to 3 (`get_member`, `list_shelves`, `search_catalog`)" in reason


def test_a_run_that_ended_after_a_single_call__names_its_number():
    (trace, *_) = [make_trace(calls, response=None) for calls in _list_orders()]

    assert "after call 4 (`send_notice`)" in build_failed_check(trace, None, has_weight=True).reason


def test_one_sequence__of_which_a_step_in_any_order_is_missing__names_the_call_in_its_place():
    raw = {"type": "tool_sequence", "sequence": [["search_catalog", "get_member"], "lend_book"]}
    orders = [["find_book", "get_member", "lend_book"], ["get_member", "find_book", "lend_book"]]

    for names in orders:
        reason = assess(raw, make_trace([make_call(name, index=at) for at, name in enumerate(names)])).reason
        assert reason == "expected `search_catalog` first, but it was not called (got `find_book`)"
