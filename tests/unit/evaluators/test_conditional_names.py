"""A conditional check is named by its condition and what it checks, and its reason repeats neither."""

import pytest
from assess_assertion import assess
from builders import make_trace

LENT = {"type": "tool_called", "tool": "lend"}
NOTICE = {"type": "tool_called", "tool": "notice"}
DENY = {"not": {"type": "tool_called", "tool": "delete"}}
IN_SOME = {"path": "metadata.scenario_id", "not_in": ["a", "b"]}


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ({"when": LENT, "then": [NOTICE]}, "when tool lend called: tool notice called"),
        ({"when": LENT, "then": [NOTICE, DENY, LENT]}, "when tool lend called: tool notice called and 2 more"),
        ({"when": {"not": LENT}, "then": [DENY]}, "when not: tool lend called: not: tool delete called"),
        ({"not": {"when": LENT, "then": [NOTICE]}}, "not: when tool lend called: tool notice called"),
        ({"when": IN_SOME, "then": [NOTICE]}, "when it applies: tool notice called"),
        ({"when": LENT, "then": [NOTICE], "agent": "root"}, "when tool lend called: tool notice called (agent root)"),
        ({"when": LENT, "then": [NOTICE], "name": "a loan has a notice"}, "a loan has a notice"),
        (
            {"when": {"path": f"'{'x' * 90}'", "eq": "y"}, "then": [NOTICE]},
            f"when '{'x' * 59}… (29 more characters): tool notice called",
        ),
    ],
)
def test_the_name_of_a_conditional_check(raw, name):
    assert assess(raw, make_trace(["lend"])).name == name


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ([NOTICE], "`notice` must be called, but only `lend` was"),
        ([NOTICE, DENY], "tool notice called: `notice` must be called, but only `lend` was"),
    ],
)
def test_the_reason_of_a_conditional_check__is_that_of_its_members(then, reason):
    assert assess({"when": LENT, "then": then}, make_trace(["lend"])).reason == reason


def test_the_reason_of_a_named_conditional_check__says_what_its_name_does_not():
    found = assess({"when": LENT, "then": [NOTICE], "name": "x"}, make_trace(["lend"]))

    assert found.reason == "tool lend called holds; tool notice called: `notice` must be called, but only `lend` was"
