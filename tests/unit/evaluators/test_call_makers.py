"""A reason that points at a call says who made it, where that was another agent than the main one."""

import pytest
from assess_assertion import assess, compile_assertion
from builders import make_call, make_trace

DENIALS = [
    ({"type": "allowed_tools", "tools": ["search"]}, "is no allowed tool, but was called (first: call 2, by {})"),
    ({"type": "forbidden_tools", "tools": ["delete"]}, "must not be called, but was 2 times (first: call 2, by {})"),
    ({"not": {"type": "tool_called", "tool": "delete"}}, "must not be called, but was 2 times (first: call 2, by {})"),
    ({"type": "no_tool", "tool": "delete"}, "must not be called, but was 2 times (first: call 2, by {})"),
    ({"not": {"type": "tool_sequence", "sequence": ["delete"]}}, "must not be called, but was (call 3, by {})"),
    ({"type": "tool_calls", "tool": "delete", "max": 1}, "got 2, by {}"),
    ({"type": "tool_calls", "tool": "delete", "exactly": 1}, "got 2, by {}"),
    ({"type": "max_tool_calls", "max": 2}, "got 3, 2 by {}"),
    ({"type": "no_loops", "max_repeats": 1}, "(calls 2 to 3, by {})"),
    ({"type": "tool_sequence", "sequence": ["search"], "mode": "exact"}, "was not expected (call 2, by {}), nor"),
    (
        {"type": "tool_sequence", "sequence": ["search", {"tool": "delete", "args": {"id": 1}}]},
        "but in call 2, by {}, `arguments.id`",
    ),
    ({"type": "tool_arguments", "tool": "delete", "schema": {"required": ["note"]}}, "(call 2, by {})"),
    ({"type": "grounded_arguments", "tools": ["delete"]}, 'call 2 `delete`, by {}: `id` `"M-99"`'),
    ({"type": "tool_latency_limit", "tool": "delete", "max_seconds": 0}, "(call 2, by {}), limit"),
]


def _make_trace(actor):
    calls = [make_call("search"), *(make_call("delete", {"id": "M-99"}, index=at) for at in (1, 2))]
    for call in calls:
        call["actor"] = "root"
        call["duration_ms"] = 5_000 / (1 + call["index"])
    calls[1]["actor"] = calls[2]["actor"] = actor
    return make_trace(calls)


@pytest.mark.parametrize(("raw", "expected"), DENIALS)
def test_a_failed_check__names_the_sub_agent_that_made_the_call(raw, expected):
    found = assess(raw, _make_trace("root/agent"))

    assert found.outcome == "failed"
    assert expected.format("`root/agent`") in found.reason


@pytest.mark.parametrize("actor", ["root", None])
@pytest.mark.parametrize("raw", [raw for raw, _ in DENIALS])
def test_a_failed_check__names_no_agent_that_is_the_main_one_or_unknown(raw, actor):
    assert " by " not in assess(raw, _make_trace(actor)).reason


def test_a_failed_count__of_calls_by_several_agents_says_who_made_how_many():
    trace = _make_trace("root/agent")
    trace.tool_calls[1]["actor"] = "root/other"

    assert "got 2, 1 by `root/other`, 1 by `root/agent`" in assess(DENIALS[5][0], trace).reason


def test_findings__of_traces_with_the_same_names_are_not_shared_by_agents():
    compiled = compile_assertion(DENIALS[9][0])

    assert "root/one" in compiled.assess(_make_trace("root/one")).reason
    assert "root/two" in compiled.assess(_make_trace("root/two")).reason
