"""An argument that no call has, with a name like that of one that calls have, is named: its check finds nothing."""

from __future__ import annotations

from typing import Any

import pytest
from command import evalgate

from hostile.suite_edits import suite, trace, write

SAYS = {"contains": "done", "required": True}
LARGE = "tool_calls[?name == 'pay' && arguments.{} > `100`]"
MISSPELT: dict[str, dict[str, Any]] = {
    "a filter": {"path": LARGE.format("amout"), "length": 0},
    "inside an argument": {"path": "tool_calls[?arguments.recever.name == 'x']", "length": 0},
    "a path": {"path": "length(tool_calls[].arguments.amuont)", "eq": 0},
    "what was asked for": {"path": "tool_calls[?requested.arguments.amout > `1`]", "length": 0},
    "in a group": {"any_of": [{"path": LARGE.format("amout"), "length": 0}]},
    "a schema": {"type": "tool_arguments", "tool": "pay", "schema": {"properties": {"amout": {"maximum": 1}}}},
    "arguments with sources": {"type": "grounded_arguments", "tools": ["pay"], "arguments": ["recever"]},
    "arguments of a flow": {
        "type": "no_flow",
        "from": {"tools": ["look"]},
        "to": {"tools": ["pay"], "arguments": ["amout"]},
    },
}
KNOWN: dict[str, dict[str, Any]] = {
    "as recorded": {"path": LARGE.format("amount"), "length": {"gte": 1}},
    "both spellings": {"path": "tool_calls[?arguments.amount > `9` || arguments.amounts > `9`]", "length": 1},
    "one like no other": {"path": LARGE.format("currency"), "length": 0},
    "a defined one": {"path": LARGE.format("accounts"), "length": 0},
    "spelt as checks of sources read it": {"type": "grounded_arguments", "tools": ["pay"], "arguments": ["Order_Id"]},
    "a field of a result": {"path": "tool_calls[?result.amout > `100`]", "length": 0},
}


def judge(folder, check):
    record = trace("done", tools=())
    arguments = {"amount": 5000, "receiver": {"name": "Ann"}, "orderId": "A-7"}
    call = {"id": "c", "name": "pay", "arguments": arguments}
    record["messages"][0]["content"] = "pay 5000 to Ann for A-7"
    record["messages"][1:1] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
    ]
    record["tool_definitions"] = [{"name": "pay", "parameters": {"properties": {"account": {}, "accounts": {}}}}]
    write(folder, {"evals/s.yaml": suite(SAYS, {**check, "required": True}), "traces/a.json": record})
    ran = evalgate(folder, ["evals/s.yaml"])
    return ran, [each for each in ran.results["warnings"] if each["code"] == "unknown_argument"]


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_argument_is_named_below_the_heading(tmp_path, name):
    ran, found = judge(tmp_path, MISSPELT[name])
    assert len(found) == 1, ran.stdout
    assert "did you mean ` amount `?" in ran.text("comment.md") or "did you mean ` receiver `?" in ran.text(
        "comment.md"
    )


@pytest.mark.parametrize("name", KNOWN)
def test_an_argument_that_calls_have_or_that_is_like_no_other_is_no_warning(tmp_path, name):
    assert judge(tmp_path, KNOWN[name])[1] == []
