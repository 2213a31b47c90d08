"""Commit and hash of the agent, from metadata, spans and resources."""

from __future__ import annotations

import pytest
from builders import make_trace
from span_builders import agent

from evalgate.adapters.formats.core.builder.side_fields import set_origin
from evalgate.adapters.formats.spans.dialects.attributes import add_evalgate_attributes
from evalgate.adapters.formats.spans.span import SpanFacts


def test_metadata_holds_what_the_format_has_no_field_for():
    trace = make_trace()
    trace.metadata = {"evalgate.commit": "abc1234", "evalgate.agent_hash": "f" * 64}
    set_origin(trace)
    assert (trace.commit, trace.agent_hash) == ("abc1234", "f" * 64)


def test_the_formats_own_field_takes_precedence():
    trace = make_trace()
    trace.commit = "own"
    trace.metadata = {"evalgate.commit": "other"}
    set_origin(trace)
    assert trace.commit == "own"


@pytest.mark.parametrize("value", [7, "", None, ["a"], "x" * 513, {"a": 1}])
def test_values_that_are_not_text_are_ignored(value):
    trace = make_trace()
    trace.metadata = {"evalgate.commit": value, "evalgate.agent_hash": value}
    set_origin(trace)
    assert (trace.commit, trace.agent_hash) == (None, None)


def test_a_span_and_its_process_have_it_as_attributes():
    span = agent(**{"evalgate.commit": "abc1234"})
    span.resource = {"evalgate.commit": "other", "evalgate.agent_hash": "f" * 64}
    facts = SpanFacts("agent")
    add_evalgate_attributes(span, facts)
    assert facts.metadata == {"evalgate.commit": "abc1234", "evalgate.agent_hash": "f" * 64}
