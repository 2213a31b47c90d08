"""An agent of which nothing is recorded earns no green, unless the suite lists it and nothing else is missing."""

from __future__ import annotations

from typing import Any

import pytest

from hostile.whole_run.case import FAILED, PASS, SUITE, Case, check, suite, trace

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


def native(*remote: str, **fields: Any) -> dict[str, Any]:
    marks = [{"code": "opaque_agent", "message": "runs elsewhere", "where": name} for name in remote]
    return trace("lookup", warnings=marks, **fields)


UNKNOWN = ["nothing is recorded of what the agent"]
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
