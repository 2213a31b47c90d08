"""Sessions of coding agents that record a call of `delete_user`, read or in a form that is unknown."""

from __future__ import annotations

from typing import Any

from hostile.calls_in_messages import ARGUMENTS, TOOL

WHEN = "2026-01-05T10:00:00Z"
SIDE = {"do": TOOL, "with": ARGUMENTS}
"""A call in a form that no reader knows."""
GEMINI_CLI = [
    {"sessionId": "s", "projectHash": "h", "startTime": WHEN, "lastUpdated": WHEN},
    {"id": "1", "timestamp": WHEN, "type": "user", "content": "Please clean up the account."},
    {"id": "2", "timestamp": WHEN, "type": "gemini", "content": "Done."},
]
GEMINI_CLI_CALL = {"id": "c1", "name": TOOL, "args": ARGUMENTS, "status": "success"}


def copilot_event(kind: str, **data: Any) -> dict[str, Any]:
    """An event of Copilot CLI."""
    return {"type": kind, "data": data, "id": "e", "timestamp": WHEN, "parentId": None}


COPILOT = [
    copilot_event("session.start", sessionId="s", copilotVersion="1"),
    copilot_event("user.message", content="Please clean up the account."),
    copilot_event("assistant.message", content="Done.", toolRequests=[]),
]
OPENCODE_USER = {"info": {"id": "m1", "role": "user"}, "parts": [{"type": "text", "text": "Please clean up."}]}


def opencode(*parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    """An exported session of opencode with these parts of the answer."""
    said = {"type": "text", "text": "Done."}
    answer = {"info": {"id": "m2", "role": "assistant", **info}, "parts": [*parts, said]}
    return {"info": {"id": "s"}, "messages": [OPENCODE_USER, answer]}


PI = [
    {"type": "session", "version": 3, "id": "s", "timestamp": WHEN, "cwd": "/w"},
    {"type": "message", "id": "1", "message": {"role": "user", "content": "Please clean up the account."}},
]


def pi(*blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A line of pi with an answer that has these blocks."""
    content = [*blocks, {"type": "text", "text": "Done."}]
    return {"type": "message", "id": "2", "message": {"role": "assistant", "content": content, **fields}}


OPENHANDS = {"id": "1", "timestamp": WHEN, "source": "user", "kind": "MessageEvent"}
OPENHANDS_ANSWER = {
    **OPENHANDS,
    "source": "agent",
    "llm_message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
}
OPENHANDS_CALL = {
    **OPENHANDS,
    "source": "agent",
    "kind": "ActionEvent",
    "tool_call": {"id": "c", "name": TOOL, "arguments": "{}"},
}
AG_UI = [
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "Done."},
]
AG_UI_CALL = {"id": "c", "type": "function", "function": {"name": TOOL, "arguments": "{}"}}


def monocle(kind: str, response: str, **attributes: str) -> dict[str, Any]:
    """A span of monocle."""
    return {
        "name": "call",
        "context": {"trace_id": "1" * 32, "span_id": f"{len(kind):016x}"},
        "start_time": WHEN,
        "end_time": WHEN,
        "attributes": {"monocle_apptrace.version": "0.7.0", "span.type": kind, **attributes},
        "events": [{"name": "data.output", "attributes": {"response": response}}],
    }


MONOCLE_ANSWER = monocle("inference", '{"assistant": "Done."}', **{"entity.2.name": "m"})


def vally(*events: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A trajectory of Vally."""
    said = {"type": "assistant_message", "data": {"content": "Done."}}
    return {
        "stimulus": {"name": "s", "prompt": "Please clean up."},
        "events": [*events, said],
        "output": "Done.",
        **fields,
    }


SESSIONS: dict[str, list[Any]] = {
    "Gemini CLI": [*GEMINI_CLI, {"id": "3", "timestamp": WHEN, "type": "gemini", "toolCalls": [GEMINI_CLI_CALL]}],
    "Gemini CLI with an unknown line": [*GEMINI_CLI, {"id": "3", "timestamp": WHEN, "type": "side", "work": SIDE}],
    "Gemini CLI with an unknown field": [*GEMINI_CLI[:2], {**GEMINI_CLI[2], "side": SIDE}],
    "Gemini CLI rewound": [
        *GEMINI_CLI[:2],
        {"id": "2", "timestamp": WHEN, "type": "gemini", "toolCalls": [GEMINI_CLI_CALL]},
        {"$rewindTo": "2"},
        {"id": "3", "timestamp": WHEN, "type": "gemini", "content": "Done."},
    ],
    "Copilot CLI": [
        *COPILOT,
        copilot_event("tool.execution_start", toolCallId="c", toolName=TOOL, arguments=ARGUMENTS),
    ],
    "Copilot CLI with an unknown event": [*COPILOT, copilot_event("assistant.side", work=SIDE)],
    "Copilot CLI with an unknown field": [*COPILOT[:2], copilot_event("assistant.message", content="Done.", side=SIDE)],
    "opencode": [
        opencode({"type": "tool", "callID": "c", "tool": TOOL, "state": {"status": "completed", "input": ARGUMENTS}})
    ],
    "opencode with an unknown part": [opencode({"type": "side", "work": SIDE})],
    "opencode with an unknown field": [opencode(side=SIDE)],
    "pi": [*PI, pi({"type": "toolCall", "id": "c", "name": TOOL, "arguments": ARGUMENTS})],
    "pi with an unknown line": [*PI, pi(), {"type": "side", "work": SIDE}],
    "pi with an unknown block": [*PI, pi({"type": "side", "work": SIDE})],
    "pi with an unknown field": [*PI, pi(side=SIDE)],
    "OpenHands V1": [OPENHANDS, OPENHANDS_CALL, OPENHANDS_ANSWER],
    "OpenHands V1 with an unknown event": [
        OPENHANDS,
        OPENHANDS_ANSWER,
        {**OPENHANDS, "kind": "SideEvent", "work": SIDE},
    ],
    "OpenHands V1 with an unknown field": [OPENHANDS, {**OPENHANDS_ANSWER, "side": SIDE}],
    "AG-UI": [*AG_UI, {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": TOOL}],
    "AG-UI in a snapshot": [
        *AG_UI,
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "n", "role": "assistant", "toolCalls": [AG_UI_CALL]}]},
    ],
    "AG-UI with a custom event": [*AG_UI, {"type": "CUSTOM", "name": "side", "value": SIDE}],
    "AG-UI with an unknown field": [*AG_UI, {"type": "RUN_FINISHED", "side": SIDE}],
    "monocle": [MONOCLE_ANSWER, monocle("agentic.tool.invocation", "x", **{"entity.1.name": TOOL})],
    "monocle in an answer": [
        monocle("inference", f'{{"tools": [{{"tool_name": "{TOOL}"}}]}}', **{"entity.2.name": "m"})
    ],
    "Vally": [vally({"type": "tool_call", "data": {"toolName": TOOL, "arguments": ARGUMENTS}})],
    "Vally with an unknown event": [vally({"type": "side", "data": SIDE})],
    "Vally in a trial with an unknown field": [
        {"type": "trial-result", "stimulus": "s", "trajectory": vally(side=SIDE)},
    ],
    "Copilot CLI of a sub-agent": [
        *COPILOT[:2],
        {
            **copilot_event("assistant.message", content="", toolRequests=[{"name": TOOL, "arguments": ARGUMENTS}]),
            "agentId": "a",
        },
        COPILOT[2],
    ],
}
