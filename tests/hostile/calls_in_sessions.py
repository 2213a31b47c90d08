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
    "opencode with a sub-agent": [
        opencode({"type": "tool", "callID": "c", "tool": "task", "state": {"status": "completed", "output": "x"}})
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
