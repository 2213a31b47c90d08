"""Most checks need no message of a conversation to be built."""

import pytest
from assess_assertion import assess
from builders import make_trace

from evalgate.models.trace.glance import Glance
from evalgate.models.trace.trace import Trace

NAMES = ["search", "book", "search"]


def read_nothing():
    raise AssertionError("the messages are read")


def whole():
    return make_trace(
        calls=NAMES, cost_usd=0.1, latency_seconds=1, input_tokens=1, output_tokens=1, metadata={"order": 7}
    )


def glanced(trace):
    """The same trace before any of its messages is built; building one is an error."""
    found = Trace.from_glance(
        Glance(NAMES, len(trace.messages), 1, trace.response, None, read_nothing, ()), trace.source
    )
    found.cost, found.latency, found.usage, found.metadata = (
        trace.cost,
        trace.latency,
        trace.usage,
        trace.metadata,
    )
    return found


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "tool_called", "tool": "search"},
        {"type": "tool_called", "tool": "cancel"},
        {"type": "tool_calls", "tool": "search", "exactly": 2},
        {"type": "tool_calls", "max_tool_calls": 2, "forbidden_tools": ["can*"], "allowed_tools": ["*"]},
        {"type": "forbidden_tools", "tools": ["bo*"]},
        {"type": "allowed_tools", "tools": ["search"]},
        {"type": "max_tool_calls", "max": 3},
        {"type": "expected_tool", "expected_tool": None},
        {"type": "tool_sequence", "sequence": ["search", "book"]},
        {"type": "tool_sequence", "sequence": ["book", "search", "book"]},
        {
            "type": "tool_sequence",
            "sequence": ["book", "cancel"],
            "mode": "any_order",
            "extra_calls": "forbid",
        },
        {"type": "tool_sequence", "sequence": ["search", "cancel"], "mode": "exact"},
        {"type": "turn_limit", "max_turns": 1},
        {"type": "contains", "value": "Done"},
        {"type": "output_contains", "pattern": "D.ne"},
        {"type": "cost_limit", "max_usd": 0.01},
        {"path": "metadata.order", "eq": 7},
        {"path": "metadata.tool_call_count", "lte": 3},
        {"path": "usage.total_tokens", "eq": 2},
    ],
    ids=str,
)
def test_check__judges_a_trace_whose_messages_are_read_later(raw):
    trace = glanced(whole())
    assert assess(raw, trace) == assess(raw, whole())
    assert trace.glance is not None
