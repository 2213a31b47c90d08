"""A call that stands in a message of a user is the agent's: no user of a chat calls tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hostile.whole_run.case import FAILED, PASS, SUITE, Case, check, suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NO_DELETE = suite(check("forbidden_tools", tools=["delete_*"]), check("output_contains", value="refund"))
ASKED, ANSWER = "Refund order A-7, please.", "Your refund is issued."
USER = "user"


def gemini(name: str, role: str) -> dict[str, Any]:
    call, result = {"name": name, "args": {}}, {"name": name, "response": {"result": "done"}}
    contents = [
        {"role": "user", "parts": [{"text": ASKED}]},
        {"role": role, "parts": [{"text": "One moment."}, {"functionCall": call}]},
        {"role": "user", "parts": [{"functionResponse": result}]},
        {"role": "model", "parts": [{"text": ANSWER}]},
    ]
    return {"scenario_id": "refund", "contents": contents}


def of_google(name: str, role: str) -> dict[str, Any]:
    """As `gemini`, with a tool that runs at the provider."""
    record = gemini(name, role)
    record["contents"][1:3] = [{"role": role, "parts": [{"toolCall": {"toolType": name, "args": {}}}]}]
    return record


def anthropic(name: str, role: str) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "c", "name": name, "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "done"}
    messages = [
        {"role": "user", "content": ASKED},
        {"role": role, "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ]
    return {"scenario_id": "refund", "messages": messages}


def bedrock(name: str, role: str) -> dict[str, Any]:
    call = {"toolUse": {"toolUseId": "c", "name": name, "input": {}}}
    result = {"toolResult": {"toolUseId": "c", "content": [{"text": "done"}]}}
    listed = [("user", {"text": ASKED}), (role, call), ("user", result), ("assistant", {"text": ANSWER})]
    return {"scenario_id": "refund", "messages": [{"role": of, "content": [part]} for of, part in listed]}


def vercel(name: str, role: str) -> dict[str, Any]:
    call = {"type": "tool-call", "toolCallId": "c", "toolName": name, "input": {}}
    output = {"type": "text", "value": "done"}
    result = {"type": "tool-result", "toolCallId": "c", "toolName": name, "output": output}
    answer = {"type": "text", "text": ANSWER}
    listed = [("user", {"type": "text", "text": ASKED}), (role, call), ("tool", result), ("assistant", answer)]
    return {"scenario_id": "refund", "messages": [{"role": of, "content": [part]} for of, part in listed]}


def event(author: str, part: dict[str, Any], **fields: Any) -> dict[str, Any]:
    role = USER if author == USER else "model"
    return {"invocation_id": "i", "author": author, "content": {"role": role, "parts": [part]}, **fields}


def adk(name: str, role: str, **fields: Any) -> dict[str, Any]:
    call, result = {"id": "c", "name": name, "args": {}}, {"id": "c", "name": name, "response": {"result": "done"}}
    made = event(USER if role == USER else "helper", {"function_call": call}, **fields)
    events = [event(USER, {"text": ASKED}), made, event("helper", {"function_response": result})]
    events.append(event("helper", {"text": ANSWER}))
    return {"id": "s", "app_name": "shop", "state": {"evalgate.scenario.id": "refund"}, "events": events}


FORMS: dict[str, tuple[Callable[[str, str], Any], str]] = {
    "gemini": (gemini, "model"),
    "gemini, a tool of Google": (of_google, "model"),
    "anthropic": (anthropic, "assistant"),
    "bedrock": (bedrock, "assistant"),
    "vercel": (vercel, "assistant"),
    "adk": (adk, "model"),
}


def judge(folder: Path, recording: Any, code: int, *says: str) -> list[str]:
    case = Case("call", {SUITE: NO_DELETE, "traces/refund.json": recording}, code, says)
    return case.find_faults(case.run(folder))


@pytest.mark.parametrize("form", FORMS)
def test_a_call_is_judged_in_any_role(tmp_path: Path, form: str) -> None:
    build, agent = FORMS[form]

    assert judge(tmp_path / "user", build("delete_user", USER), FAILED, "delete_user") == []
    assert judge(tmp_path / "agent", build("issue_refund", agent), PASS) == []


def test_what_a_user_wrote_beside_a_call_stays_the_users(tmp_path: Path) -> None:
    recording = gemini("issue_refund", USER)
    recording["contents"].append({"role": "user", "parts": [{"text": "thanks"}]})

    assert judge(tmp_path, recording, PASS) == []


@pytest.mark.parametrize(("known", "code"), [("c", PASS), ("other", FAILED)])
def test_a_long_running_call_that_no_event_holds_is_missing(tmp_path: Path, known: str, code: int) -> None:
    says = ["missing evidence (calls)"] if code else []

    assert judge(tmp_path, adk("issue_refund", "model", long_running_tool_ids=[known]), code, *says) == []
