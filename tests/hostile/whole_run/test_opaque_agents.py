"""An agent of which nothing is recorded earns no green, unless the suite lists it and nothing else is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from hostile.suite_edits import write
from hostile.whole_run.case import FAILED, PASS, SUITE, Case, check, suite, trace

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

BEGIN = 1_760_000_000_000_000_000
DENY = check("forbidden_tools", tools=["delete_*"])
TEXT = "Your refund is issued."


def span(name: str, number: int, parent: int | None, **attributes: Any) -> dict[str, Any]:
    """A span of OTLP; `parent` is the number of another one."""
    listed = [{"key": key.replace("__", "."), "value": {"stringValue": text}} for key, text in attributes.items()]
    above = {} if parent is None else {"parentSpanId": f"{parent:016x}"}
    return {
        "traceId": "0" * 31 + "1",
        "spanId": f"{number:016x}",
        **above,
        "name": name,
        "startTimeUnixNano": str(BEGIN + number),
        "endTimeUnixNano": str(BEGIN + 100 - number),
        "attributes": listed,
    }


def agent(name: str, number: int, parent: int | None = None) -> dict[str, Any]:
    named = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": name}
    return span(f"invoke_agent {name}", number, parent, **named)


def run(*remote: str, answer: str = f'[{{"role":"assistant","parts":[{{"type":"text","content":"{TEXT}"}}]}}]') -> Any:
    """A run of an agent that answers, and below it agents of which nothing is recorded."""
    asked = '[{"role":"user","parts":[{"type":"text","content":"refund, please"}]}]'
    messages = {"gen_ai__input__messages": asked, "gen_ai__output__messages": answer}
    chat = span("chat m", 2, 1, gen_ai__operation__name="chat", gen_ai__request__model="m", **messages)
    spans = [agent("main", 1), chat, *(agent(name, number, 1) for number, name in enumerate(remote, 3))]
    resource = {"attributes": [{"key": "evalgate.scenario_id", "value": {"stringValue": "refund"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


def remote(*below: dict[str, Any], **attributes: Any) -> Any:
    """A run of an agent that answers, with the agent `flights` below it that has these spans and attributes."""
    record = run("flights")
    spans = record["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans[2]["attributes"] += span("", 0, None, **attributes)["attributes"]
    spans += below
    return record


def request(number: int, parent: int) -> dict[str, Any]:
    return span("POST /", number, parent, http__request__method="POST", url__full="https://flights.example")


def native(*remote: str, **fields: Any) -> dict[str, Any]:
    marks = [{"code": "opaque_agent", "message": "runs elsewhere", "where": name} for name in remote]
    return trace("lookup", warnings=marks, **fields)


UNKNOWN = ["nothing is recorded of what the agent"]
ASKED = '[{"role":"user","parts":[{"type":"text","content":"book it"}]}]'
ANSWERED = '[{"role":"assistant","parts":[{"type":"text","content":"booked"}]}]'
WHOLE = f"{ASKED[:-1]},{ANSWERED[1:]}"
SIDES = {"gen_ai__input__messages": ASKED, "gen_ai__output__messages": ANSWERED}
MODEL = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "m", **SIDES}
UNRECORDED = {
    "requests to another service only": remote(request(4, 3), span("POST / send", 5, 4)),
    "the protocol between agents only": remote(span("a2a.client.transports.jsonrpc.send", 4, 3)),
    "question and answer only": remote(**SIDES),
    "question, answer and a request": remote(request(4, 3), **SIDES),
}
RECORDED = {
    "a model call": remote(span("chat m", 4, 3, **MODEL)),
    "a model call below a request": remote(request(4, 3), span("chat m", 5, 4, **MODEL)),
    "steps of its own process": remote(span("execute_task plan", 4, 3)),
    "the whole conversation": remote(gen_ai__output__messages=WHOLE),
    "an inside that lost the link to it": remote(request(4, 3), span("chat m", 6, 5, **MODEL)),
}
OTHER = {"calls": "the last call may be missing"}
CALLED = '[{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"delete_db","arguments":{}}]}]'


def files(record: Any, *listed: str, **more: Any) -> dict[str, Any]:
    return {SUITE: suite(DENY, opaque=list(listed), **more), "traces/refund.json": record}


CASES = [
    *(
        case
        for word, build in (("spans", run), ("native", native))
        for case in (
            Case(f"{word}: none listed", files(build("flights")), FAILED, UNKNOWN),
            Case(f"{word}: another listed", files(build("flights"), "hotels"), FAILED, UNKNOWN),
            Case(f"{word}: one of two listed", files(build("flights", "hotels"), "flights"), FAILED, UNKNOWN),
            Case(f"{word}: listed", files(build("flights"), "flights"), PASS, silent=UNKNOWN),
            Case(f"{word}: both listed", files(build("flights", "hotels"), "flights", "hotels"), PASS),
            Case(f"{word}: listed by a glob", files(build("flights", "flights-b"), "flights*"), PASS),
            Case(f"{word}: none there", files(build()), PASS),
            Case(
                f"{word}: listed by the scenario",
                files(build("flights"), scenario={"opaque": ["flights"]}),
                PASS,
            ),
            Case(
                f"{word}: not listed by the scenario",
                files(build("flights"), "flights", scenario={"opaque": []}),
                FAILED,
                UNKNOWN,
            ),
        )
    ),
    *(Case(name, files(record), FAILED, UNKNOWN) for name, record in UNRECORDED.items()),
    *(Case(f"{name}, listed", files(record, "flights"), PASS) for name, record in UNRECORDED.items()),
    *(Case(name, files(record), PASS, silent=UNKNOWN) for name, record in RECORDED.items()),
    Case("a glob is no name of the main agent", files(native("root"), "*"), FAILED, UNKNOWN),
    Case("the main agent by its name", files(native("root"), "root"), PASS),
    Case(
        "a forbidden call beside it",
        files(run("flights", answer=CALLED), "flights"),
        FAILED,
        ["must not be called, but was (call"],
    ),
    Case(
        "another gap beside it",
        files(native("flights", missing_evidence=OTHER), "flights"),
        FAILED,
        ["the last call may be missing"],
    ),
    Case(
        "listed since the baseline",
        files(run("flights"), "flights", policy={"on_weakening": "fail"}),
        FAILED,
        ["opaque"],
        before=files(run()),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_agent_that_is_not_recorded(tmp_path, case):
    assert not case.find_faults(case.run(tmp_path))


TASK = {"description": "clean up", "subagent_type": "cleaner"}


def in_langgraph(tool: str, given: dict[str, Any]) -> Any:
    messages = [
        {"type": "human", "content": "Refund"},
        {"type": "ai", "content": "", "tool_calls": [{"name": tool, "args": given, "id": "c", "type": "tool_call"}]},
        {"type": "tool", "content": "done", "name": tool, "tool_call_id": "c"},
        {"type": "ai", "content": TEXT},
    ]
    heading = {"next": [], "config": {"configurable": {"thread_id": "t"}}, "tasks": []}
    return {"values": {"messages": messages}, "metadata": {"evalgate.scenario.id": "refund"}, **heading}


def in_anthropic(tool: str, given: dict[str, Any]) -> Any:
    messages = [
        {"role": "user", "content": "Refund"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": tool, "input": given}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "done"}]},
        {"role": "assistant", "content": [{"type": "text", "text": TEXT}]},
    ]
    return {"scenario_id": "refund", "messages": messages}


def in_strands(tool: str, given: dict[str, Any]) -> Any:
    messages = [
        {"role": "user", "content": [{"text": "Refund"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": tool, "input": given}}]},
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c", "status": "success", "content": [{"text": "x"}]}}],
        },
        {"role": "assistant", "content": [{"text": TEXT}]},
    ]
    return {"scenario_id": "refund", "messages": messages}


def in_chat(tool: str, given: dict[str, Any]) -> Any:
    function = {"name": tool, "arguments": json.dumps(given)}
    messages = [
        {"role": "user", "content": "Refund"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
        {"role": "assistant", "content": TEXT},
    ]
    return {"scenario_id": "refund", "messages": messages}


@pytest.mark.parametrize(
    ("record", "name", "harmless"),
    [
        (lambda: in_langgraph("task", TASK), "cleaner", in_langgraph("task", {"description": "call Ann"})),
        (lambda: in_anthropic("Task", {**TASK, "prompt": "x"}), "cleaner", in_anthropic("Task", {"prompt": "x"})),
        (lambda: in_chat("task", TASK), "cleaner", in_chat("task", {"subagent_type": 7, "title": "x"})),
        (
            lambda: in_strands("use_agent", {"prompt": "x", "system_prompt": "You delete."}),
            "use_agent",
            in_strands("use_agent", {"name": "Ann"}),
        ),
        (
            lambda: in_strands("swarm", {"task": "x", "agents": [{"name": "cleaner"}]}),
            "swarm",
            in_strands("swarm", {"of": "bees"}),
        ),
    ],
)
def test_an_agent_that_a_call_started_is_not_in_the_messages_of_the_main_one(tmp_path, record, name, harmless):
    ran = judge_record(tmp_path / "a", suite(DENY), record())
    assert (ran.code, f"`{name}`" in json.dumps(ran.results)) == (1, True)
    assert judge_record(tmp_path / "b", {**suite(DENY), "opaque": [name]}, record()).code == 0
    assert judge_record(tmp_path / "c", suite(DENY), harmless).code == 0


def judge_record(folder: Path, rules: Any, record: Any) -> CommandResult:
    write(folder, {"evals/s.yaml": rules, "traces/refund.json": json.dumps(record)})
    return evalgate(folder, ["evals/s.yaml"])
