"""Fields that a suite ignores: a way out for who does not own the recorder, and no way past the gate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from in_process_command import evalgate as in_process

if TYPE_CHECKING:
    from pathlib import Path

CALL = {"do": "delete_user", "with": {"id": 1}}
"""What the reader does not know, and may be a call."""
NOTED = {"note": ["seen"]}
"""A list with a text, which may be a call as far as a reader knows; without the shape of one."""
FORBIDDEN = {"type": "forbidden_tools", "tools": ["delete_*"], "required": True}


def write(folder: Path, extra: Any, **suite: Any) -> None:
    """A run of which a message has the field `extra`, and a suite that forbids a tool."""
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok", "extra": extra}]
    (folder / "t.json").write_text(json.dumps({"messages": messages}))
    scenarios = [{"id": "*", "assertions": [FORBIDDEN]}]
    (folder / "s.yaml").write_text(json.dumps({"version": 1, "traces": ["t.json"], "scenarios": scenarios, **suite}))


def run(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and results."""
    result = evalgate(folder, ["s.yaml", *arguments])
    return result.code, result.results


def codes(results: dict[str, Any]) -> list[str]:
    return [each["code"] for each in results["warnings"]]


def reason(results: dict[str, Any]) -> str:
    [trial] = results["suites"][0]["scenarios"][0]["trials"]
    return " ".join(str(each) for each in (trial["reason"], *(one["reason"] for one in trial["assertions"])))


IGNORE = {"ignore": ["messages[].extra"]}
MAPPING = {"messages": "messages", "tool_calls": {"path": "messages[].calls || `[]`"}}


def test_an_unknown_field_stops_the_gate_until_the_suite_ignores_it(tmp_path: Path) -> None:
    write(tmp_path, NOTED)
    assert run(tmp_path)[0] == 1
    write(tmp_path, NOTED, reading=IGNORE)
    code, results = run(tmp_path)
    assert (code, codes(results)) == (0, [])


LISTED = ["delete_user", {"id": 1}]


@pytest.mark.parametrize("call", [CALL, LISTED, [LISTED], {"log": json.dumps(LISTED)}, ["delete_user", '{"id": 1}']])
def test_a_field_with_the_shape_of_a_call_is_refused(tmp_path: Path, call: Any) -> None:
    write(tmp_path, call, reading=IGNORE)
    result = evalgate(tmp_path, ["s.yaml"])
    assert result.code == 1
    assert "messages[].extra is ignored, but looks like a call" in result.stdout


NAMES_ALONE: list[Any] = [
    *({"tool": "delete_user"}, {"do": "delete_user"}, {"toolsUsed": ["delete_user"]}, {"function": {"name": "f"}}),
    *(
        {"type": "tool_use", "name": "delete_user"},
        {"name": "delete_user", "arguments": {}},
        {"name": "f", "args": None},
    ),
    *({"log": json.dumps({"tool": "delete_user"})}, {"name": "delete_user", "input": "all"}),
]
NO_CALLS: list[Any] = [
    *({"provider": "a", "model": "b", "mode": "c"}, {"model": "m", "input": 12, "output": 3}, {"tool_count": 2}),
    *({"response": "fine"}, {"steps": ["one"]}, {"model": "m", "tags": []}, {"name": "delete_user"}, "delete_user"),
]


@pytest.mark.parametrize("extra", NAMES_ALONE, ids=json.dumps)
def test_a_name_alone_is_refused_where_its_key_or_type_says_that_it_was_called(tmp_path: Path, extra: Any) -> None:
    write(tmp_path, extra, reading=IGNORE)
    assert run(tmp_path)[0] == 1
    write(tmp_path, extra, reading={**IGNORE, "even_calls": True})
    assert run(tmp_path)[0] == 0


@pytest.mark.parametrize("extra", NO_CALLS, ids=json.dumps)
def test_what_names_no_call_is_ignored_without_another_word(tmp_path: Path, extra: Any) -> None:
    write(tmp_path, extra, reading=IGNORE)
    assert run(tmp_path)[0] == 0


@pytest.mark.parametrize("extra", [{"a": [json.dumps(CALL)]}, [[CALL]], {"name": "delete_user", "arguments": "{}"}])
def test_the_shape_of_a_call_is_found_at_any_depth(tmp_path: Path, extra: Any) -> None:
    write(tmp_path, extra, reading=IGNORE)
    assert run(tmp_path)[0] == 1


def test_calls_that_are_none_can_be_ignored_by_saying_so(tmp_path: Path) -> None:
    write(tmp_path, CALL, reading={**IGNORE, "even_calls": True})
    assert run(tmp_path)[0] == 0


def test_a_declared_format_ignores_its_fields(tmp_path: Path) -> None:
    for extra, more, expected in ((NOTED, {}, 0), (CALL, {}, 1), (CALL, {"even_calls": True}, 0)):
        write(tmp_path, {"seen": extra}, format="custom", custom={**MAPPING, **IGNORE, **more})
        assert run(tmp_path)[0] == expected, (extra, more)


def test_a_path_that_no_trace_has_is_a_warning(tmp_path: Path) -> None:
    write(tmp_path, 1, reading={"ignore": ["messages[].extro"]})
    code, results = run(tmp_path)
    assert (code, codes(results)) == (0, ["nothing_ignored"])
    assert "`messages[].extro`" in results["warnings"][0]["message"]


@pytest.mark.parametrize("path", ["", "a..b", "a[0].b", "messages[]", ".a", "a.[].b"])
def test_a_path_is_checked(tmp_path: Path, path: str) -> None:
    write(tmp_path, 1, reading={"ignore": [path]})
    result = in_process("validate", "s.yaml", cwd=str(tmp_path))
    assert (result.exit_code, "s.yaml:1:" in result.err) == (2, True), result.err


LINES = [
    {"type": "user", "message": {"role": "user", "content": "hi"}, "sessionId": "s", "uuid": "1"},
    {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "ok"}], "extra": NOTED},
        "sessionId": "s",
        "uuid": "2",
    },
]
SPAN = {
    "traceId": "0af7651916cd43dd8448eb211c80319c",
    "spanId": "b7ad6b7169203331",
    "name": "chat m",
    "startTimeUnixNano": "1",
    "endTimeUnixNano": "2",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {
            "key": "gen_ai.output.messages",
            "value": {
                "stringValue": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "ok"}]}]),
            },
        },
        {"key": "my.tool.name", "value": {"stringValue": "seen"}},
    ],
}
SPANS = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}


@pytest.mark.parametrize(
    ("lines", "path"),
    [
        (LINES, "message.extra"),
        (LINES, "[].message.extra"),
        ([SPANS], "resourceSpans[].scopeSpans[].spans[].attributes.my.tool.name"),
    ],
    ids=["lines", "lines as a list", "attributes of spans"],
)
def test_fields_of_lines_and_spans_are_ignored(tmp_path: Path, lines: list[Any], path: str) -> None:
    write(tmp_path, 1, traces=["t.jsonl"])
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    assert run(tmp_path)[0] == 1
    write(tmp_path, 1, traces=["t.jsonl"], reading={"ignore": [path]})
    code, results = run(tmp_path)
    assert (code, codes(results)) == (0, []), reason(results)


def test_ignoring_more_than_the_baseline_is_a_weakening_where_it_hides_something(tmp_path: Path) -> None:
    write(tmp_path, 1)
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / "base.zip")
    write(tmp_path, CALL, reading={**IGNORE, "even_calls": True})
    code, results = run(tmp_path, "--baseline", "base.zip", "--on-weakening", "fail")
    [found] = results["weakenings"]
    assert (code, found["kind"]) == (1, "reading_changed")
    assert "messages[].extra" in found["message"]


def test_ignoring_what_hides_nothing_is_a_note(tmp_path: Path) -> None:
    write(tmp_path, 1)
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / "base.zip")
    write(tmp_path, 1, reading=IGNORE)
    code, results = run(tmp_path, "--baseline", "base.zip", "--on-weakening", "fail")
    assert (code, results["weakenings"]) == (0, [])


def test_the_project_can_ignore_fields_for_every_suite(tmp_path: Path) -> None:
    write(tmp_path, NOTED)
    (tmp_path / "evalgate.yaml").write_text(
        json.dumps({"version": 1, "suites": ["s.yaml"], "defaults": {"reading": IGNORE}})
    )
    assert in_process("run", "evalgate.yaml", cwd=str(tmp_path)).exit_code == 0


def test_show_says_what_was_left_out(tmp_path: Path) -> None:
    write(tmp_path, NOTED, reading=IGNORE)
    result = in_process("show", "t.json", "--config", "s.yaml", cwd=str(tmp_path))
    assert "`messages[].extra` is left out: the suite ignores it" in result.out, result
