"""What is unknown leaves the calls complete only if nothing in it can be a call."""

from __future__ import annotations

import json

import pytest

from evalgate.adapters.formats.core.builder.possible_calls import can_be_call, has_call_word

CALL = {"do": "delete_user", "with": {"id": 1}}
POSSIBLE = {
    "a: a name and arguments": CALL,
    "a: arguments as a list": {"deed": "delete_user", "for": [1, 2]},
    "a: arguments as JSON text": {"deed": "delete_user", "with": '{"id": 1}'},
    "a: at any depth": [{"x": [{"y": CALL}]}],
    "a: in JSON as text": {"note": json.dumps(CALL)},
    "a: twice encoded": {"note": json.dumps({"inner": json.dumps(CALL)})},
    "a: beside ids": {"id": "x", "deed": "delete_user", "meta": {"n": 1}},
    "b: a list of names": ["delete_user"],
    "b: a list of names within": {"x": {"y": [1, "delete_user"]}},
    "c: a key with tool in it": {"lasttoolname": "delete_user"},
    "c: a key with a word of calling": {"next_action": "delete_user"},
    "c: the same in camel case": {"nextAction": "delete_user"},
    "c: a plural": {"steps": {"x": 1}},
    "c: a type": {"type": "dynamic_invocation", "n": 1},
    "c: a kind": {"kind": "run.command"},
    "d: broken JSON": {"note": '{"do": "delete_user", "wi'},
    "d: broken JSON that a word begins": {"note": "[delete_user] is done"},
}
HARMLESS = {
    "three texts": {"modelId": "m", "providerId": "p", "mode": "plan"},
    "numbers": {"in": 2, "out": {"text": 3, "audio": [1, 2.5]}, "ok": True, "none": None},
    "ids and times beside an object": {"id": "x", "timestamp": "2026-01-05", "usage": {"in": 2}},
    "numbers under words of calling": {"toolCalls": 3, "runs": 2, "steps": None, "outputs": [], "commands": {}},
    "ids under words of calling": {"response_id": "r1", "runId": "r2", "run_at": "2026-01-05"},
    "words that contain words of calling": {"functionality": "x", "recall": "y", "transactionId": "z", "usage": "u"},
    "a type of another kind": {"type": "relocated", "sessionId": "s", "relocatedCwd": "/tmp"},
    "JSON as text": {"note": '{"in": 2}'},
    "nothing": {},
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_what_has_a_mark_of_a_call_can_be_one(name):
    assert can_be_call(POSSIBLE[name])
    assert can_be_call(POSSIBLE[name], "side")


@pytest.mark.parametrize("name", HARMLESS)
def test_what_has_none_is_harmless(name):
    assert not can_be_call(HARMLESS[name])
    assert not can_be_call(HARMLESS[name], "metrics")


@pytest.mark.parametrize(("key", "value"), [("new_calls", {"n": 1}), ("tools", {"a": 1}), ("toolset", {"n": 1})])
def test_the_name_of_the_field_counts_too(key, value):
    assert can_be_call(value, key)
    assert not can_be_call(value, "limits")


@pytest.mark.parametrize(
    "word",
    ["function", "action", "call", "command", "exec", "execute", "use", "run", "do", "act", "op", "operation", "step"],
)
@pytest.mark.parametrize("form", ["{}", "last_{}", "last{}", "LAST_{}", "{}-list", "x.{}"])
def test_a_word_of_calling_is_known_in_each_spelling(word, form):
    assert has_call_word(form.format(word.capitalize() if form == "last{}" else word))
