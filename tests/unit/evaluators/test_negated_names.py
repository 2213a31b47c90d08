"""A check that must not hold has one name that says so, whatever its outcome and however deep it is nested."""

import pytest
from assess_assertion import assess
from builders import make_trace

NOT_CALLED = {"not": {"type": "tool_called", "tool": "b"}}


def _without_calls():
    trace = make_trace(["a"])
    trace.gaps = {"calls": "the file is cut"}
    return trace


@pytest.mark.parametrize("trace", [make_trace(["a"]), make_trace(["b"]), _without_calls()])
@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (NOT_CALLED, "not: tool b called"),
        ({"type": "tool_called", "tool": "b", "negate": True}, "not: tool b called"),
        ({"not": {"type": "tool_called", "tool": "b"}, "agent": "root"}, "not: tool b called (agent root)"),
        ({"not": {"any_of": [{"type": "tool_called", "tool": "b"}]}}, "not: any_of"),
        ({"not": {"path": "tool_calls[0].name", "eq": "a"}}, 'not: tool_calls[0].name == "a"'),
        ({"not": {"type": "tool_called", "tool": "b"}, "name": "b stays out"}, "b stays out"),
    ],
)
def test_the_name_of_a_negated_check__is_the_same_for_every_outcome(raw, name, trace):
    assert assess(raw, trace).name == name


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"all_of": [NOT_CALLED]}, "not: tool b called: missing evidence (calls): the file is cut"),
        ({"any_of": [NOT_CALLED]}, "not: tool b called: missing evidence (calls): the file is cut"),
        ({"at_least": {"k": 1, "of": [NOT_CALLED]}}, "not: tool b called: missing evidence (calls): the file is cut"),
        (
            {"all_of": [{"any_of": [NOT_CALLED]}]},
            "any_of: not: tool b called: missing evidence (calls): the file is cut",
        ),
        ({"when": {"type": "tool_called", "tool": "a"}, "then": [NOT_CALLED]}, "missing evidence (calls): the file"),
    ],
)
def test_a_negated_member__that_can_not_be_evaluated_keeps_its_not(raw, reason):
    found = assess(raw, _without_calls())

    assert found.outcome == "not_evaluable"
    assert found.reason.startswith(reason)


def test_a_negated_condition__is_named_as_what_holds():
    called = {"type": "tool_called", "tool": "c"}
    reason = assess({"when": NOT_CALLED, "then": [called], "name": "c instead"}, make_trace(["a"])).reason

    assert reason == "not: tool b called holds; tool c called: `c` must be called, but only `a` was"
