"""A forbidden call never passes, in whatever shape it was recorded."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from hostile.calls_in_documents import DOCUMENTS, STREAMS
from hostile.calls_in_messages import TOOL, list_chats, list_native_traces
from hostile.calls_in_sessions import SESSIONS
from hostile.unknown_parts import FIELDS, Edit, list_edited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUITE = """\
version: 1
suite: s
traces: [traces/*]
scenarios:
  - {id: "*", assertions: [{type: forbidden_tools, tools: ["delete_*"], required: true}]}
"""
HIDDEN_CALLS: tuple[Any, ...] = ({"do": "erase_all", "with": {"id": 1}}, ["erase_all"])
"""Calls that nothing but the vocabulary of unknown fields finds: no word of calling, no name or arguments."""
HINT = "(use `format: custom`"
"""What follows is the same for every file of unknown format."""
CASES: dict[str, list[Any]] = {
    **{name: [document] for name, document in {**list_chats(), **list_native_traces(), **DOCUMENTS}.items()},
    **{f"stream: {name}": lines for name, lines in {**STREAMS, **SESSIONS}.items()},
}


@pytest.mark.parametrize("name", CASES)
def test_a_forbidden_call_is_read_or_its_field_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "traces").mkdir()
    lines = "".join(json.dumps(document) + "\n" for document in CASES[name])
    (tmp_path / "traces/t.jsonl").write_text(lines, encoding="utf-8")
    result = evalgate(tmp_path, ["suite.yaml", "--no-baseline-zip"])
    scenarios = result.results["suites"][0]["scenarios"]
    assert result.code == 1, result.stdout
    assert {scenario["verdict"] for scenario in scenarios} <= {"HARD_FAIL", "ERROR"}
    fields = [TOOL, *list_fields(CASES[name])]
    for trial in (trial for scenario in scenarios for trial in scenario["trials"]):
        assert TOOL in trial["tool_calls"] or names_field(trial, fields), trial


@pytest.mark.parametrize("part", HIDDEN_CALLS, ids=["name and arguments", "names"])
@pytest.mark.parametrize("form", FIELDS)
def test_a_call_in_a_field_that_no_reader_knows_is_named(form: str, part: Any, tmp_path: Path) -> None:
    """Fails for every format if unknown fields are not searched: the fixtures never call this tool."""
    (tmp_path / "suite.yaml").write_text(SUITE.replace("delete_*", "erase_*"), encoding="utf-8")
    (tmp_path / "traces").mkdir()
    content = next(list_edited(Edit(form, FIELDS[form].split()[0]), part, at=0))
    (tmp_path / "traces/t.jsonl").write_bytes(content)
    result = evalgate(tmp_path, ["suite.yaml", "--no-baseline-zip"])
    trials = [trial for each in result.results["suites"][0]["scenarios"] for trial in each["trials"]]
    assert result.code == 1, result.stdout
    assert any(names_field(trial, ["side"]) for trial in trials)


def names_field(trial: dict[str, Any], fields: list[str]) -> bool:
    """Whether the trial's reason, or that of its assertion, names the tool or a field of the document."""
    reasons = [trial["reason"], *(assertion["reason"] for assertion in trial["assertions"])]
    found = " ".join(str(reason).partition(HINT)[0] for reason in reasons)
    return any(re.search(rf"(?<!\w){re.escape(field)}(?!\w)", found) for field in fields)


def list_fields(value: Any) -> Iterator[str]:
    """Every key in the value, and every name of a span."""
    if isinstance(value, dict):
        yield from value
        yield str(value.get("name", "name"))
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from list_fields(each)


def test_the_table_is_long_enough() -> None:
    kinds = {name.removeprefix("native ") for name in CASES}
    assert len(kinds) >= 100
