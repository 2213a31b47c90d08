"""What ran in a rollout of Codex without an item of the model is a call; what an item asked for is none twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from in_process_command import evalgate

from evalgate.adapters.formats.codex.sub_agent_files import join
from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.models.trace.trace import Trace, TraceLocation

if TYPE_CHECKING:
    from pathlib import Path

WHEN = "2026-11-01T10:00:00.000Z"
FORKED = "2026-11-01T11:00:00.000Z"
Line = dict[str, Any]


def line(of_type: str, kind: str, **fields: Any) -> Line:
    return {"timestamp": WHEN, "type": of_type, "payload": {"type": kind, **fields}}


def item(kind: str, **fields: Any) -> Line:
    return line("response_item", kind, **fields)


def event(kind: str, **fields: Any) -> Line:
    return line("event_msg", kind, **fields)


def ended(kind: str, state: str = "completed", **fields: Any) -> Line:
    return event(f"item_{state}", thread_id="t", turn_id="u", item={"type": kind, "id": "c", **fields})


def says(role: str, words: str) -> Line:
    return item("message", role=role, content=[{"type": "output_text", "text": words}])


def asks(name: str, call_id: str = "c", **given: Any) -> Line:
    return item("function_call", name=name, call_id=call_id, arguments=json.dumps(given))


def returns(words: str, call_id: str = "c") -> Line:
    return item("function_call_output", call_id=call_id, output=words)


def list_lines(*lines: Line, when: str = WHEN, **about: Any) -> list[Line]:
    settings = line("session_meta", "", id="019b", **about) | {"timestamp": when}
    settings["payload"]["timestamp"] = when
    return [settings, says("user", "Tidy up."), *lines, says("assistant", "Tidy.")]


def read(lines: list[Line]) -> Trace:
    known = detect.find_format("codex")
    assert known is not None
    [record] = known.reader.split(lines)
    found = read_record(known.reader, record, TraceLocation("t.jsonl"), "t.jsonl")
    assert isinstance(found, Trace), found
    return found


def calls(*lines: Line, **about: Any) -> list[tuple[Any, ...]]:
    trace = read(list_lines(*lines, **about))
    assert trace.gaps == {}
    return [(call["name"], call["arguments"], call["status"], call["result_text"]) for call in trace.tool_calls]


COMMAND = {"command": ["rm", "-rf", "build"]}
RAN = {"call_id": "c", **COMMAND, "cwd": "/w", "source": "agent"}
OUTPUT = {"stdout": "x", "stderr": "", "aggregated_output": "x"}
BEGIN = event("exec_command_begin", **RAN)
END, FAILED = (event("exec_command_end", **RAN, **OUTPUT, exit_code=code) for code in (0, 2))
EXECUTION = {**COMMAND, "source": "agent", "status": "completed", "exitCode": 0, "aggregatedOutput": "x"}
CHANGES = {"changes": {"/w/a": {"type": "delete", "content": "x"}}}
PATCH = event("patch_apply_end", call_id="c", success=True, stdout="done", stderr="", **CHANGES)
REFUSED = event("patch_apply_end", call_id="c", success=False, status="declined", stdout="", stderr="no", **CHANGES)
ACTION = {"type": "search", "query": "price"}
SEARCH = event("web_search_end", call_id="c", query="price", action={**ACTION, "url": None})
IMAGE = event("image_generation_end", call_id="c", status="completed", revised_prompt="a cat", result="AAAA")
VIEW = event("view_image_tool_call", call_id="c", path="/w/a.png")
MCP = {"server": "crm", "tool": "drop", "arguments": {"id": 7}}
SPAWN = {"tool": "spawnAgent", "status": "failed", "senderThreadId": "t", "receiverThreadIds": [], "prompt": "go"}

RM = ("exec_command", COMMAND, "ok", "x")
APPLIED = ("apply_patch", CHANGES, "ok", "done")
SEARCHED = ("web_search", ACTION, "ok", None)
DREW = ("image_generation", {"revised_prompt": "a cat"}, "ok", None)
SAW = ("view_image", {"path": "/w/a.png"}, "ok", None)
APART: dict[str, tuple[list[Line], tuple[Any, ...]]] = {
    "a command": ([BEGIN, END], RM),
    "its end alone": ([END], RM),
    "its start alone": ([BEGIN], ("exec_command", COMMAND, "missing", None)),
    "one that failed": ([BEGIN, FAILED], ("exec_command", COMMAND, "error", "x")),
    "its item": ([ended("CommandExecution", **EXECUTION)], RM),
    "its events and its item": ([BEGIN, ended("CommandExecution", "started", **EXECUTION), END,
                                 ended("CommandExecution", **EXECUTION)], RM),
    "input of a process": ([event("terminal_interaction", call_id="c", process_id="1", stdin="yes\n")],
                           ("write_stdin", {"stdin": "yes\n"}, "missing", None)),
    "a patch": ([event("patch_apply_begin", call_id="c", **CHANGES), PATCH], APPLIED),
    "a patch that was refused": ([REFUSED], ("apply_patch", CHANGES, "error", "no")),
    "its file change": ([ended("FileChange", **CHANGES, status="completed", stdout="done")], APPLIED),
    "a search": ([event("web_search_begin", call_id="c"), SEARCH], SEARCHED),
    "a search of an old version": ([event("web_search_end", call_id="c", query="price")],
                                   ("web_search", {"query": "price"}, "ok", None)),
    "its search item": ([ended("WebSearch", query="price", action=ACTION)], SEARCHED),
    "a picture": ([IMAGE], DREW),
    "its picture item": ([ended("ImageGeneration", revised_prompt="a cat", status="completed", result="A")],
                         DREW),
    "a look at a picture": ([VIEW], SAW),
    "its view": ([ended("ImageView", path="/w/a.png")], SAW),
    "a tool of a server": ([ended("McpToolCall", **MCP, status="completed", result={"content": []})],
                           ("mcp__crm__drop", {"id": 7}, "ok", "[]")),
    "one that failed there": ([ended("McpToolCall", **MCP, status="failed", error={"message": "no"})],
                              ("mcp__crm__drop", {"id": 7}, "error", "no")),
    "a tool of the client": ([ended("DynamicToolCall", tool="drop", arguments={"id": 7}, success=True,
                                    contentItems=[{"type": "text", "text": "x"}])], ("drop", {"id": 7}, "ok", "x")),
    "a sub-agent": ([ended("CollabAgentToolCall", **SPAWN)], ("spawn_agent", {"prompt": "go"}, "error", None)),
    "a pause": ([ended("Sleep", duration_ms=5)], ("sleep", {"duration_ms": 5}, "ok", None)),
    "a command of a script": ([asks("exec", "s"), END, returns("x", "s")], RM),
    "one that has the id of its script": ([asks("exec"), END], RM),
}  # fmt: skip


@pytest.mark.parametrize("case", APART)
def test_what_ran_without_an_item_is_a_call(case):
    lines, expected = APART[case]
    found = calls(*lines)
    assert [call for call in found if call[0] != "exec"] == [expected]


SHELL = asks("shell", command=["rm"])
SEARCH_ITEM = item("web_search_call", id="ws", status="completed", action=ACTION)
IMAGE_ITEM = item("image_generation_call", status="completed", revised_prompt="a cat", result="AAAA")
JOINED: dict[str, tuple[Line, list[Line], str]] = {
    "a command": (SHELL, [BEGIN, END, ended("CommandExecution", **EXECUTION)], "shell"),
    "a command of the provider's kind": (item("local_shell_call", call_id="c", action=COMMAND), [END], "local_shell"),
    "a patch by a shell": (SHELL, [PATCH], "shell"),
    "a patch": (item("custom_tool_call", call_id="c", name="apply_patch", input="*** Begin"), [PATCH], "apply_patch"),
    "a search with another id": (SEARCH_ITEM, [event("web_search_begin", call_id="c"), SEARCH,
                                               ended("WebSearch", query="price", action=ACTION)], "web_search"),
    "a search of an old version": (SEARCH_ITEM, [event("web_search_end", call_id="c", query="price")], "web_search"),
    "a search whose item has its id": (SEARCH_ITEM | {"payload": {**SEARCH_ITEM["payload"], "id": "c", "action": {}}},
                                       [SEARCH], "web_search"),
    "a search that had only begun": (SEARCH_ITEM, [event("web_search_begin", call_id="c")], "web_search"),
    "a picture without an id": (IMAGE_ITEM, [IMAGE], "image_generation"),
    "a look at a picture": (asks("view_image", path="/w/a.png"), [VIEW, ended("ImageView", path="x")], "view_image"),
    "a tool of a server": (asks("mcp__crm__drop", id=7), [ended("McpToolCall", **MCP)], "mcp__crm__drop"),
    "a tool of the client": (asks("drop", id=7), [event("dynamic_tool_call_response", call_id="c", success=True)],
                             "drop"),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINED)
def test_the_events_of_an_item_are_its_execution_in_either_order(case):
    asked, events, name = JOINED[case]
    for lines in ([asked, *events], [*events, asked]):
        trace = read(list_lines(*lines))
        assert [call["name"] for call in trace.tool_calls] == [name]


def test_each_search_of_an_item_has_one_execution():
    other = event("web_search_end", call_id="d", query="price", action=ACTION)
    elsewhere = event("web_search_end", call_id="e", query="key", action={"type": "search", "query": "key"})
    found = [arguments for _, arguments, *_ in calls(SEARCH_ITEM, SEARCH, other, elsewhere)]
    assert found == [ACTION, ACTION, {"type": "search", "query": "key"}]


def test_one_id_with_another_command_is_another_call():
    other = event("exec_command_end", **{**RAN, "command": ["ls"]}, **OUTPUT, exit_code=0)
    assert [arguments["command"] for _, arguments, *_ in calls(BEGIN, END, other)] == [COMMAND["command"], ["ls"]]


@pytest.mark.parametrize(
    "ran",
    [
        event("exec_command_end", **{**RAN, "source": "user_shell"}, **OUTPUT, exit_code=0),
        ended("CommandExecution", **{**EXECUTION, "source": "userShell"}),
        event("exec_command_output_delta", call_id="c", stream="stdout", chunk="eA=="),
        event("terminal_interaction", call_id="c", process_id="1", stdin=""),
        ended("Plan", text="Delete."),
        ended("AgentMessage", content=[{"type": "Text", "text": "Done."}]),
    ],
)
def test_what_the_user_ran_and_what_is_no_execution_is_no_call(ran):
    assert calls(ran) == []


def test_an_item_of_an_unknown_type_may_be_a_call():
    trace = read(list_lines(ended("BrowserAction", target={"x": 1})))
    assert "`BrowserAction`" in trace.gaps["calls"]


def test_inherited_events_do_not_count():
    inherited = [END, PATCH, SEARCH, ended("CommandExecution", **EXECUTION)]
    own = {**says("assistant", "Tidy."), "timestamp": FORKED}
    trace = read([*list_lines(*inherited, when=FORKED, forked_from_id="p"), own])
    assert trace.tool_calls == []
    assert [each["code"] for each in trace.warnings] == ["copied_context"]


@pytest.mark.parametrize("ran", [END, PATCH, ended("CommandExecution", **EXECUTION), event(
    "dynamic_tool_call_request", callId="c", tool="drop", arguments={"id": 7})])  # fmt: skip
def test_a_sub_agent_does_not_repeat_what_its_session_ran(ran):
    parent = list_lines(ran)
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "019b", "agent_role": "helper"}}}
    own = list_lines(asks("exec_command", "own", command="ls"), source=source)
    own[0]["payload"]["id"] = "019c"
    late = [{**each, "timestamp": FORKED} for each in [own[0], *parent, *own[1:]]]
    trace = read(join(parent, [("rollout-019c.jsonl", late)]))
    assert [call.get("actor", "root") for call in trace.tool_calls] == ["root", "root/helper"]


SUITE = """\
version: 1
suite: tidy
traces: ["traces/*.jsonl"]
scenarios:
  - id: "019b"
    assertions:
      - {type: forbidden_tools, tools: [exec_command, apply_patch, web_search], required: true}
"""


@pytest.mark.parametrize(("ran", "code"), [([END], 1), ([PATCH], 1), ([SEARCH], 1), ([VIEW], 0)])
def test_a_forbidden_tool_that_only_events_record_fails_the_check(tmp_path: Path, ran: list[Line], code: int):
    (tmp_path / "traces").mkdir()
    lines = "".join(json.dumps(each) + "\n" for each in list_lines(*ran))
    (tmp_path / "traces/019b.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    found = evalgate("run", "suite.yaml", cwd=str(tmp_path))
    assert found.exit_code == code, found.out + found.err


def asks_script(text: str, call_id: str = "s") -> Line:
    return item("custom_tool_call", name="exec", call_id=call_id, input=text)


def returns_list(call_id: str, *names: str, **about: Any) -> Line:
    listed = [{"name": name, "arguments": {"n": 1}} for name in names]
    passed = {"cell_id": "1", "executed_tool_calls": listed, **about}
    kind = "custom_tool_call_output" if call_id == "s" else "function_call_output"
    return item(kind, call_id=call_id, output="x", internal_chat_message_metadata_passthrough=passed)


RUNS = asks_script("const r = await tools.exec_command({cmd: 'rm -rf build'}); text(r)")
ALL = {"tool_calls_complete": True}
DROPPED = event("mcp_tool_call_end", call_id="m", invocation={**MCP}, result={"Ok": {"content": []}})
LISTED: dict[str, tuple[list[Line], list[str]]] = {
    "by its output": ([RUNS, returns_list("s", "exec_command", **ALL)], ["exec", "exec_command"]),
    "by the output of a later wait": (
        [RUNS, returns_list("s"), asks("wait", "w", cell_id="1"), returns_list("w", "exec_command", **ALL)],
        ["exec", "wait", "exec_command"],
    ),
    "by its output and by events, once": (
        [asks_script("await tools.mcp__crm__drop({})"), DROPPED, returns_list("s", "mcp__crm__drop", "mcp__crm__drop")],
        ["exec", "mcp__crm__drop", "mcp__crm__drop"],
    ),
    "and one that was not made": ([RUNS, returns_list("s", **ALL)], ["exec"]),
    "but the output's own, of an ordinary call": (
        [asks("drop", "w"), returns_list("w", "drop", **ALL)],
        ["drop"],
    ),
}
MISSING = {
    "that is not recorded": ([RUNS, returns("x", "s")], "`exec_command`"),
    "of which a part is recorded": ([RUNS, returns_list("s", "read_file")], "`exec_command`"),
    "without its name": ([asks_script("const all = tools; await all[name]({})")], "names it does not say"),
    "by a computed name": ([asks_script("await tools[name]({})")], "names it does not say"),
}


@pytest.mark.parametrize("case", LISTED)
def test_the_calls_of_a_script_are_those_that_are_listed(case: str) -> None:
    lines, names = LISTED[case]
    assert [call[0] for call in calls(*lines)] == names


@pytest.mark.parametrize("case", MISSING)
def test_a_script_with_a_call(case: str) -> None:
    lines, named = MISSING[case]
    assert named in read(list_lines(*lines)).gaps["calls"]


def test_arguments_that_were_too_long_to_be_listed_are_unknown() -> None:
    cut = {"name": "exec_command", "arguments": {"_codex_executed_tool_call_truncated": {"original_bytes": 9}}}
    found = calls(RUNS, returns_list("s", **ALL, executed_tool_calls=[cut]))
    assert found[-1][:2] == ("exec_command", None)
