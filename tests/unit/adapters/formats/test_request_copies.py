"""Several spans of one request may record other arguments of a call: none of them is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from span_builders import agent, call_part, chat, genai_message, response_part, tool

from evalgate.adapters.formats.spans.assemble import build
from evalgate.models.trace.trace import list_arguments

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span

USER = genai_message("user", "Delete the account.")
ANSWER = genai_message("assistant", "Done.", finish="stop")
RESULT = genai_message("tool", response_part("ok", "c1"))


def asked(number: int, name: str = "delete_user", call_id: str = "c1", **more: Any) -> Any:
    return genai_message("assistant", call_part(name, call_id, id=number, **more), finish="tool_call")


def run(*, output: Any, history: Any, copies: tuple[Any, ...] = (), tools: tuple[Span, ...] = ()) -> list[Span]:
    """Two requests of an agent; `copies` are what spans around and beside the first one record of its answer."""
    root = agent(0, 9_000)
    above = [chat(0, 1_000, given=[USER], answered=[each], parent=root, response_id="r1") for each in copies[:1]]
    first = chat(100, 900, given=[USER], answered=[output], parent=(above or [root])[0], response_id="r1")
    beside = [chat(100, 900, given=[USER], answered=[each], parent=root, response_id="r1") for each in copies[1:]]
    last = chat(2_000, 3_000, given=[USER, history, RESULT], answered=[ANSWER], parent=root, response_id="r2")
    for each in tools:
        each.parent_id = root.span_id
    return [root, *above, first, *beside, *tools, last]


def executed(arguments: Any, call_id: str | None = "c1") -> Span:
    return tool("delete_user", 1_100, 1_900, call_id=call_id, arguments=arguments, result="ok")


def values(spans: list[Span]) -> list[tuple[str, list[Any]]]:
    """The calls of a run, each with the ids of what ran and of what was asked for."""
    found = build(spans).tool_calls
    return [(call["name"], [(each or {}).get("id") for each in list_arguments(call)]) for call in found]


ONE = asked(1)
OTHERS: dict[str, tuple[list[Span], list[int]]] = {
    "the span around it": (run(output=asked(2), copies=(ONE,), history=asked(2)), [2, 1]),
    "a span beside it": (run(output=asked(2), copies=(asked(2), ONE), history=asked(2)), [2, 1]),
    "the history": (run(output=asked(2), history=ONE), [1, 2]),
    "its execution": (run(output=ONE, history=ONE, tools=(executed({"id": 2}),)), [2, 1]),
    "its execution without an id": (run(output=ONE, history=ONE, tools=(executed({"id": 2}, None),)), [2, 1]),
    "its execution in a form of the recorder": (
        run(output=ONE, history=ONE, tools=(executed({"args": [], "kwargs": {"id": 2}}),)),
        [2, 1],
    ),
    "that form as text": (run(output=ONE, history=ONE, tools=(executed({"input": '{"id": 2}'}),)), [2, 1]),
    "its execution as text of Python": (run(output=ONE, history=ONE, tools=(executed("{'id': 2}"),)), [2, 1]),
}


@pytest.mark.parametrize("place", OTHERS)
def test_both_arguments_of_one_call_are_kept(place: str) -> None:
    spans, expected = OTHERS[place]
    assert values(spans) == [("delete_user", expected)]


EQUAL: dict[str, list[Span]] = {
    "copies": run(output=ONE, copies=(ONE, ONE), history=ONE, tools=(executed({"id": 1.0}),)),
    "copies with another id": run(output=ONE, copies=(asked(1, call_id="x1"), asked(1, call_id="x2")), history=ONE),
    "a copy with a null": run(output=ONE, copies=(asked(1, note=None),), history=asked(1, note=None)),
    "an execution in a form of the recorder": run(output=ONE, history=ONE, tools=(executed({"kwargs": {"id": 1}}),)),
    "one without names": run(output=ONE, history=ONE, tools=(executed({"args": ["a client", 1]}),)),
    "one that was left out": run(output=ONE, history=ONE, tools=(executed({"input": {}}),)),
    "one as text of Python": run(output=ONE, history=ONE, tools=(executed("{'id': 1}"),)),
}


@pytest.mark.parametrize("place", EQUAL)
def test_equal_calls_count_once(place: str) -> None:
    assert values(EQUAL[place]) == [("delete_user", [1])]


def test_a_third_version_of_a_call_is_a_call() -> None:
    spans = run(output=ONE, copies=(asked(3),), history=asked(2), tools=(executed({"id": 4}),))
    found = values(spans)
    assert {each for _, numbers in found for each in numbers} == {1, 2, 3, 4}
    assert len(found) == 3


def test_a_copy_with_another_call_adds_it() -> None:
    look = asked(1, "look")
    assert sorted(values(run(output=look, copies=(ONE,), history=look))) == [("delete_user", [1]), ("look", [1])]


def test_an_agents_own_record_of_a_call_counts_beside_that_of_its_model() -> None:
    own = [asked(1), RESULT, ANSWER]
    root = agent(0, 9_000, **{"gen_ai.output.messages": json.dumps(own)})
    first = chat(0, 1_000, given=[USER], answered=[asked(2)], parent=root)
    last = chat(2_000, 3_000, given=[USER, asked(2), RESULT], answered=[ANSWER], parent=root)
    assert values([root, first, last]) == [("delete_user", [2, 1])]


@pytest.mark.parametrize("later", [[asked(5, call_id="c5"), RESULT], []], ids=["replaced", "left out"])
def test_a_call_that_only_an_earlier_history_has_counts_first(later: list[Any]) -> None:
    root = agent(0, 9_000)
    first = chat(0, 1_000, given=[USER, ONE, RESULT], answered=[asked(5, call_id="c5")], parent=root)
    last = chat(2_000, 3_000, given=[USER, *later], answered=[ANSWER], parent=root)
    assert values([root, first, last]) == [("delete_user", [1]), ("delete_user", [5])]
