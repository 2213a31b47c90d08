"""`init` writes `grounded_arguments` for what had a source in every passing trace, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from builders import make_call, make_trace
from msgspec.structs import replace

from evalgate.bootstrap.sources import build_suite_files
from evalgate.features.learn.application.inference.observations import TraceSet
from evalgate.features.learn.application.inference.self_check import find_failing
from evalgate.features.learn.measures.argument_sources import infer_sources
from evalgate.measures.provenance.trace_sources import find_argument_sources

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace


def build(scenario: str, tool: str = "cancel_order", **arguments: Any) -> Trace:
    """A run that looks an order up and passes these arguments on."""
    calls = [make_call("get_order", {}, result={"order_id": "W2378156"}), make_call(tool, arguments, index=1)]
    return make_trace(calls, user="Cancel my order", scenario_id=scenario)


def infer(*traces: Trace) -> list[tuple[dict[str, Any], str]]:
    found = TraceSet(traces)
    return [(each.entry, each.reason) for each in infer_sources(found.scenarios, found.compared)]


def test_three_traces_show_it() -> None:
    traces = [build(name, order_id="W2378156") for name in ("a", "b", "c")]
    assert infer(*traces) == [({"type": "grounded_arguments", "tools": ["cancel_order"]}, "3 values had a source")]
    assert infer(*traces[:2]) == []


def test_a_look_up_changes_nothing() -> None:
    assert infer(*[build(name, "get_details", order_id="W2378156") for name in "abc"]) == []


def test_a_word_of_several_scenarios_is_allowed() -> None:
    traces = [build(name, order_id="W2378156", reason="no longer needed") for name in "abc"]
    assert infer(*traces) == [
        (
            {"type": "grounded_arguments", "tools": ["cancel_order"], "allow": {"reason": ["no longer needed"]}},
            "3 values had a source",
        )
    ]


def test_an_argument_that_only_the_definition_has_is_excepted() -> None:
    tool = {"name": "cancel_order", "parameters": {"properties": {"order_id": {}, "remarks": {}}}}
    traces = [replace(build(name, order_id="W2378156"), tool_definitions=[tool]) for name in "abc"]
    entry = {"type": "grounded_arguments", "tools": ["cancel_order"], "except": ["remarks"]}
    assert infer(*traces) == [(entry, "3 values had a source")]


def test_other_values_without_a_source_are_excepted() -> None:
    invented = [build(name, order_id="W2378156", card="card_7334") for name in "abc"]
    once = [build("a", order_id="W2378156", reason="too late"), *(build(name, order_id="W2378156") for name in "bc")]
    excepted = [
        ({"type": "grounded_arguments", "tools": ["cancel_order"], "except": [name]}, "3 values had a source")
        for name in ("card", "reason")
    ]
    assert [*infer(*invented), *infer(*once)] == excepted


def test_nothing_is_written_where_no_value_has_a_source() -> None:
    assert infer(*[build(name, title=f"Trip {name * 4}", note="x " * 20) for name in "abc"]) == []


def test_sources_are_worked_out_once_however_often_a_draft_is_judged() -> None:
    check = "{type: grounded_arguments, tools: [cancel_order]}"
    text = f"suite: s\ntraces: ['*']\nscenarios:\n  - id: a\n    assertions:\n      - {check}\n"
    suite = build_suite_files(".").parse_text(text, "s.yaml")
    trace = build("a", order_id="W2378156")
    sources = find_argument_sources(trace)
    for _ in range(2):
        assert list(find_failing(suite, [trace])) == []
        assert find_argument_sources(trace) is sources
