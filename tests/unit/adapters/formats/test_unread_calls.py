"""The search for calls that a reader did not read: what it takes for a call, and what it does not."""

from __future__ import annotations

import orjson
import pytest

from evalgate.adapters.formats.core.builder.unread_calls import CallScan
from evalgate.adapters.formats.core.fields import FieldError

MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello!"}]
CALL = {"name": "delete_user", "input": {"id": 1}}
NOTHING = frozenset[str]()


def search(record, copy_flag="", read=NOTHING):
    scan = CallScan(read, NOTHING, copy_flag)
    scan.search(record)
    return scan.incomplete


@pytest.mark.parametrize(
    "record",
    [
        {"name": "case 1", "input": "Hello", "messages": MESSAGES},
        {"action": "chat", "params": {"a": 1}, "messages": MESSAGES},
        {"llm": {"name": "gpt", "kwargs": {"temperature": 0}}, "messages": MESSAGES},
        {"settings": {"name": "gpt", "parameters": {"max_tokens": 10, "top_p": 1}}, "messages": MESSAGES},
        {"tools": [{"name": "search", "description": "Searches.", "parameters": {"type": "object"}}]},
        {"spans": [{"name": "chat", "input": "Hello", "output": "Hello!"}]},
    ],
)
def test_whole_traces_settings_and_descriptions_are_no_calls(record):
    assert search(record) == []


def test_a_call_says_how_to_record_it():
    with pytest.raises(FieldError, match=r"record calls as this format does"):
        search({"messages": [{"role": "assistant", "toolUse": CALL}]})


def test_settings_of_a_model_next_to_certain_arguments_are_a_call():
    with pytest.raises(FieldError, match="looks like a call of tune"):
        search({"messages": [{"role": "assistant", "x": {"name": "tune", "arguments": {"temperature": 1}}}]})


def test_only_a_format_that_has_copies_leaves_them_out():
    record = {"steps": [{"is_copied_context": True, "toolUse": CALL}]}
    assert search(record, "is_copied_context") == []
    with pytest.raises(FieldError, match="delete_user"):
        search(record)


@pytest.mark.parametrize("field", ["metadata", "a"])
def test_json_as_text_may_be_nested_as_deep_as_it_can_be_decoded(field):
    deep = '{"tool": 1, "metadata": ' + f'{{"{field}": ' * 1_000 + "1" + "}" * 1_000 + "}"
    assert orjson.loads(deep)["tool"] == 1
    assert search({"messages": MESSAGES, "x": deep}) == []


@pytest.mark.parametrize("field", ["toolType", "tool_type"])
def test_a_call_that_is_named_by_the_type_of_its_tool_is_one_that_was_read(field):
    part = {"toolCall": {"id": "s1", field: "FILE_SEARCH"}}
    assert search({"parts": [part]}, read={"file_search"}) == []
    assert search({"parts": [part]}, read={"other"}) == ["parts[0].toolCall"]


@pytest.mark.parametrize("end", ["", "\n", " " * 200])
def test_json_as_text_is_searched_also_where_it_is_filled_up_with_blanks(end):
    with pytest.raises(FieldError, match="delete_user"):
        search({"messages": MESSAGES, "x": orjson.dumps({"toolUse": CALL}).decode() + end})


def test_json_as_text_that_was_cut_holds_no_call():
    assert search({"messages": MESSAGES, "x": orjson.dumps({"toolUse": CALL}).decode()[:-1]}) == []
