"""Parts of calls in a stream: which call each belongs to, and its name; calls and items in their recorded order."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from evalgate.features.record.measures.streams import EVENT_NOT_JSON, ReadAnswer, read_answer
from evalgate.features.record.models.exchange import ProviderAnswer

OSLO, LIMA = '{"q":"Oslo"}', '{"q":"Lima"}'


def read(*events: Any) -> ReadAnswer:
    chunks = [(0.0, b"data: " + orjson.dumps(event) + b"\n\n") for event in events]
    return read_answer(ProviderAnswer(200, "text/event-stream", chunks))


def join(*parts: dict[str, Any] | list[Any], model: str = "m") -> tuple[list[tuple[str, str]], str | None]:
    """Names and arguments of the calls of a stream with a part, or a list of them, an event; and the problem."""
    lists = [part if isinstance(part, list) else [part] for part in parts]
    found = read(*({"model": model, "choices": [{"index": 0, "delta": {"tool_calls": each}}]} for each in lists))
    calls = found.value["choices"][0]["message"].get("tool_calls", [])
    return [(call["function"]["name"], call["function"]["arguments"]) for call in calls], found.problem


def part(name: str | None = None, arguments: str | None = None, **more: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**more, "function": function}


JOINED: dict[str, tuple[list[Any], list[tuple[str, str]]]] = {
    "another id at one index": (
        [part("lookup", OSLO, index=0, id="a"), part("delete", LIMA, index=0, id="b")],
        [("lookup", OSLO), ("delete", LIMA)],
    ),
    "another id at one index, arguments in parts": (
        [part("lookup", "{", index=0, id="a"), part(None, "}", index=0), part("delete", "{", index=0, id="b"),
         part(None, "}", index=0)],
        [("lookup", "{}"), ("delete", "{}")],
    ),
    "an id again at one index, after another one": (
        [part("lookup", "{", index=0, id="a"), part("delete", "{", index=0, id="b"), part(None, "}", index=0, id="a"),
         part(None, " }", index=0, id="b")],
        [("lookup", "{}"), ("delete", "{ }")],
    ),
    "neither index nor id": ([part("lookup", OSLO), part("lookup", LIMA)], [("lookup", OSLO), ("lookup", LIMA)]),
    "neither, another tool": ([part("lookup", "{}"), part("delete", "")], [("lookup", "{}"), ("delete", "")]),
    "neither, arguments in parts": ([part("lookup", ""), part(None, "{"), part(None, "}")], [("lookup", "{}")]),
    "neither, two in a list": (
        [[part("lookup", "{"), part("delete", "{")], [part(None, "}"), part(None, " }")]],
        [("lookup", "{}"), ("delete", "{ }")],
    ),
    "an id without an index": (
        [part("lookup", "{", id="a"), part("delete", "{", id="b"), part(None, "}", id="a"), part(None, " }", id="b")],
        [("lookup", "{}"), ("delete", "{ }")],
    ),
    "the id later": ([part("lookup", "{", index=0), part(None, "}", index=0, id="a")], [("lookup", "{}")]),
    "an empty id later": ([part("lookup", "{", index=0, id="a"), part("", "}", index=0, id="")], [("lookup", "{}")]),
    "a null index": ([part("lookup", "{", index=None, id="a"), part(None, "}", index=None)], [("lookup", "{}")]),
    "the index backwards": (
        [part("delete", "{}", index=1, id="b"), part("lookup", "{}", index=0, id="a")],
        [("lookup", "{}"), ("delete", "{}")],
    ),
    "a name again": ([part("get", "{", index=0, id="a"), part("get", "}", index=0, id="a")], [("get", "{}")]),
    "a name that grows": ([part("get", "", index=0, id="a"), part("get_x", "{}", index=0)], [("get_x", "{}")]),
    "an object for arguments": ([{"index": 0, "id": "a", "function": {"name": "get", "arguments": {"n": 1}}}], [("get", '{"n":1}')]),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINED)
def test_a_part_belongs_to_one_call(case):
    parts, calls = JOINED[case]
    assert join(*parts) == (calls, None)


def test_the_name_of_a_tool_is_joined_only_for_models_that_send_it_in_parts():
    parts = [part("delete_", "", index=0, id="a"), part("user", "{}", index=0, id="a")]
    assert join(*parts, model="google/gemini-3") == ([("delete_user", "{}")], None)
    calls, problem = join(*parts)
    assert (calls[0][0], problem) == ("delete_", "parts of one call name two tools")


def test_parts_that_name_two_tools_and_have_no_id_are_two_calls_and_a_problem():
    calls, problem = join(part("delete_", "", index=0), part("user", "{}", index=0))
    assert ([name for name, _ in calls], problem is None) == (["delete_", "user"], False)


@pytest.mark.parametrize("parts", [5, "x", [5], [None]])
def test_calls_that_are_no_list_of_objects_are_a_problem(parts):
    found = read({"choices": [{"index": 0, "delta": {"tool_calls": parts}}]})
    assert found.problem == "the calls of an event are no list of objects"


def test_a_call_of_the_first_kind_and_a_custom_one_are_joined():
    legacy = [{"function_call": {"name": "delete", "arguments": "{"}}, {"function_call": {"arguments": "}"}}]
    custom = [{"tool_calls": [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "run", "input": "l"}}]},
              {"tool_calls": [{"index": 0, "custom": {"input": "s"}}]}]  # fmt: skip
    found = read(*({"choices": [{"index": 0, "delta": delta}]} for delta in (*legacy, *custom)))
    message = found.value["choices"][0]["message"]
    assert message["function_call"] == {"name": "delete", "arguments": "{}"}
    assert message["tool_calls"] == [{"id": "a", "type": "custom", "custom": {"name": "run", "input": "ls"}}]


def test_parts_of_a_text_may_be_lists_of_typed_parts():
    deltas = ["a", [{"type": "thinking", "thinking": []}], "b"]
    found = read(*({"choices": [{"index": 0, "delta": {"content": each}}]} for each in deltas))
    assert [each["type"] for each in found.value["choices"][0]["message"]["content"]] == ["text", "thinking", "text"]


def item(place: int | None, name: str, end: str = "done", **more: Any) -> dict[str, Any]:
    value = {"type": "function_call", "id": f"fc_{name}", "call_id": name, "name": name, "arguments": "{}", **more}
    return {"type": f"response.output_item.{end}", "item": value, **({} if place is None else {"output_index": place})}


def names(found: ReadAnswer) -> list[Any]:
    return [(each["name"], each["arguments"]) for each in found.value["output"]]


def test_items_of_a_response_have_the_order_of_their_index():
    assert names(read(item(1, "b"), item(0, "a"))) == [("a", "{}"), ("b", "{}")]
    assert names(read(item(None, "a"), item(None, "b"))) == [("a", "{}"), ("b", "{}")]
    assert names(read(item(None, "a", "added", arguments=""), item(None, "a"))) == [("a", "{}")]


def test_the_last_event_of_a_response_has_all_items_or_those_before_it_are_taken():
    def end(*output: Any) -> dict[str, Any]:
        return {"type": "response.completed", "response": {"id": "r", "output": [each["item"] for each in output]}}

    assert names(read(item(0, "a"), end(item(0, "a"), item(1, "b")))) == [("a", "{}"), ("b", "{}")]
    assert names(read(item(0, "a"), item(1, "b"), end(item(0, "a")))) == [("a", "{}"), ("b", "{}")]


def test_a_response_that_was_cut_has_what_came():
    delta = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"q'}
    text = {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Hel"}
    message = {"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}}
    found = read(item(0, "a", "added", arguments=""), delta, message, text, {**text, "delta": "lo"})
    assert [found.value["output"][0]["arguments"], found.value["output"][1]["content"]] == [
        '{"q',
        [{"type": "output_text", "text": "Hello"}],
    ]
    assert not found.is_complete
    assert names(read(item(0, "a", "added", arguments=""))) == [("a", None)]


def test_a_part_of_no_item_and_of_no_block_is_a_problem():
    assert read({"type": "response.output_text.delta", "output_index": 4, "delta": "x"}).problem is not None
    assert read({"type": "content_block_delta", "index": 4, "delta": {"type": "text_delta", "text": "x"}}).problem


def test_blocks_with_one_index_are_two_blocks_and_events_without_a_start_are_read():
    def block(name: str) -> list[dict[str, Any]]:
        content = {"type": "tool_use", "id": name, "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": f'{{"of":"{name}"}}'}
        return [
            {"type": "content_block_start", "index": 0, "content_block": content},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
        ]

    found = read(*block("a"), *block("b"), {"type": "message_stop"})
    assert [(each["name"], each["input"]) for each in found.value["content"]] == [
        ("a", {"of": "a"}),
        ("b", {"of": "b"}),
    ]
    assert (found.problem, found.is_complete) == (None, True)


def test_the_input_of_a_block_may_come_with_its_start():
    content = {"type": "tool_use", "id": "a", "name": "a", "input": {"n": 1}}
    found = read({"type": "content_block_start", "index": 0, "content_block": content})
    assert found.value["content"] == [content]


@pytest.mark.parametrize("event", [{"type": "ping"}, {"type": "new.kind", "data": {}}, {"id": "x"}])
def test_an_event_of_an_unknown_type_is_no_part_of_an_answer(event):
    found = read(event, {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]})
    assert (found.value["choices"][0]["message"]["content"], found.problem) == ("x", None)
    assert read(event).problem == "its stream has no part of an answer"


def test_events_of_two_apis_in_one_stream_are_a_problem():
    assert read({"choices": []}, {"type": "message_stop"}).problem == EVENT_NOT_JSON


def test_an_error_within_a_stream_ends_it():
    found = read({"choices": [{"index": 0, "delta": {"content": "x"}}]}, {"error": {"message": "overloaded"}})
    assert (found.value["error"], found.is_complete) == ({"message": "overloaded"}, True)
