"""What ran in a rollout, as its events record it.

The items of the model need not: the tools that a script of the model called, for one, have ids of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from evalgate.adapters.formats.core.builder.conversation import ToolResult
from evalgate.adapters.formats.core.fields import dict_or_empty, mapping, plain_keys, text, to_snake_case, whole_number
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.messages.blocks import get_first, parse_result

EXEC, STDIN, PATCH, VIEW, SLEEP = "exec_command", "write_stdin", "apply_patch", "view_image", "sleep"
SEARCH, IMAGE = "web_search", "image_generation"
PROVIDED = (SEARCH, IMAGE)
"""Tools that run at the provider: their arguments may be known at the end only, and their items may have no id."""
NAMED_BY_EVENT = ""
"""For a tool that has the name that the event or item gives it."""
STAGES = {
    "exec_command": EXEC,
    "patch_apply": PATCH,
    "web_search": SEARCH,
    "image_generation": IMAGE,
    "mcp_tool_call": NAMED_BY_EVENT,
    "collab_agent_spawn": "spawn_agent",
    "collab_agent_interaction": "send_input",
    "collab_waiting": "wait",
    "collab_close": "close_agent",
    "collab_resume": "resume_agent",
}
"""The tools of which one event tells the beginning and one the end, by the types of both without their last word."""
EVENTS = {
    **{f"{stage}_begin": (tool, False) for stage, tool in STAGES.items()},
    **{f"{stage}_end": (tool, True) for stage, tool in STAGES.items()},
    "dynamic_tool_call_request": (NAMED_BY_EVENT, False),
    "dynamic_tool_call_response": (NAMED_BY_EVENT, True),
    "view_image_tool_call": (VIEW, True),
    "terminal_interaction": (STDIN, False),
}
"""The tools of events by their types, and whether what such an event is about has ended."""
STARTED, COMPLETED = "item_started", "item_completed"
ITEMS = {
    "CommandExecution": EXEC,
    "FileChange": PATCH,
    "WebSearch": SEARCH,
    "ImageGeneration": IMAGE,
    "ImageView": VIEW,
    "Sleep": SLEEP,
    "McpToolCall": NAMED_BY_EVENT,
    "DynamicToolCall": NAMED_BY_EVENT,
    "CollabAgentToolCall": NAMED_BY_EVENT,
}
"""The tools of the items that `item_started` and `item_completed` hold, by their types."""
EXTENSION = "Extension"
EXTENSIONS = {"image_gen.generation": IMAGE, "clock.sleep": SLEEP, "web.search": SEARCH}
"""The tools of items of extensions, by their kinds."""
OTHER_ITEMS = words("""
    UserMessage HookPrompt AgentMessage Plan Reasoning SubAgentActivity ContextCompaction EnteredReviewMode
    ExitedReviewMode FunctionCallOutput
""")
"""Types of items of such events that are no calls; an output is that of an item."""
OF_USER = "user_shell"
"""The source of a command that the user ran."""
FAILED = frozenset({"failed", "declined", "errored", "not_found"})
ARGUMENTS = {
    EXEC: ("command", "interaction_input"),
    STDIN: ("stdin",),
    PATCH: ("changes",),
    VIEW: ("path",),
    SLEEP: ("duration_ms",),
    IMAGE: ("revised_prompt",),
}
"""The fields that are a tool's arguments; those of an agent's tools name threads by ids that are drawn by chance."""


class Ran(NamedTuple):
    """A state of an execution. Its id is that of the call, if known; `tool` is empty if it is not named.

    `is_named` if the tool is one of an MCP server or of the client, which the event names.
    """

    id: str | None
    tool: str
    arguments: Any
    is_named: bool
    has_ended: bool
    fields: dict[str, Any]


def read_execution(payload: dict[str, Any]) -> Ran | None:
    """The execution that an event is about; None for any other event, and what the user ran. Raises FieldError."""
    kind = payload.get("type")
    item = find_turn_item(payload)
    if item is not None:
        form = text(item.get("type"), "payload.item.type") or ""
        tool = EXTENSIONS.get(str(item.get("kind"))) if form == EXTENSION else ITEMS.get(form)
        return None if tool is None else _read(tool, plain_keys(item), has_ended=kind == COMPLETED)
    known = EVENTS.get(kind) if isinstance(kind, str) else None
    if known is None:
        return None
    return _read(known[0], plain_keys(payload) if "callId" in payload else payload, has_ended=known[1])


def find_turn_item(payload: dict[str, Any]) -> dict[str, Any] | None:
    """The item that an event has the state of; None for any other event. Raises FieldError."""
    return mapping(payload.get("item"), "payload.item") if payload.get("type") in (STARTED, COMPLETED) else None


def plain_word(value: Any) -> str:
    """A word of Codex in snake case, which some versions write in camel case; empty for what is no text."""
    return to_snake_case(value).lstrip("_") if isinstance(value, str) else ""


def _read(tool: str, fields: dict[str, Any], *, has_ended: bool) -> Ran | None:
    if plain_word(fields.get("source")) == OF_USER or (tool == STDIN and not fields.get("stdin")):
        return None
    call_id = text(get_first(fields, ("call_id", "id")), "payload.call_id") or None
    name, arguments = _read_request(tool, fields)
    is_named = tool == NAMED_BY_EVENT and "receiver_thread_ids" not in fields
    return Ran(call_id, name, arguments, is_named, has_ended, fields)


def read_result(ran: Ran, name: str) -> ToolResult:
    """What an execution that has ended returned, for the tool of this name. Raises FieldError."""
    code = whole_number(ran.fields.get("exit_code"), "payload.exit_code")
    return ToolResult(ran.id, name, _read_returned(ran.fields), _has_failed(name, ran.fields, code), code)


def _read_request(tool: str, fields: dict[str, Any]) -> tuple[str, Any]:
    """Name and arguments of a tool that ran, the name of one of an MCP server as Codex gives it to models."""
    asked = mapping(fields.get("invocation"), "payload.invocation") or fields
    if tool == SEARCH:
        return tool, read_search(fields)
    if tool:
        return tool, {key: fields[key] for key in ARGUMENTS.get(tool, ("prompt",)) if fields.get(key)} or None
    name = text(asked.get("tool"), "payload.tool") or ""
    server = text(asked.get("server"), "payload.server")
    if "receiver_thread_ids" in fields:
        return plain_word(name), {"prompt": fields["prompt"]} if fields.get("prompt") else None
    return (f"mcp__{server}__{name}" if server else name), asked.get("arguments")


def read_search(fields: dict[str, Any]) -> Any:
    """What was searched for, as items record it; older events have the query only."""
    action = {key: value for key, value in dict_or_empty(fields.get("action")).items() if value is not None}
    query = fields.get("query")
    return action if action.keys() - {"type"} or not query else {"query": query}


def _read_returned(fields: dict[str, Any]) -> Any:
    """The output of a command or patch, or what an MCP server, the client or the provider returned."""
    printed = next((found for key in ("aggregated_output", "formatted_output") if (found := fields.get(key))), None)
    printed = printed or "".join(str(fields[key]) for key in ("stdout", "stderr") if fields.get(key))
    if printed or fields.get("exit_code") is not None or fields.get("stdout") is not None:
        return printed
    result = fields.get("result")
    returned = get_first(result, ("Ok", "Err")) if isinstance(result, dict) else None
    returned = result if returned is None and isinstance(result, dict) else returned
    content = returned.get("content") if isinstance(returned, dict) else returned
    content = fields.get("content_items") if content is None else content
    return parse_result(dict_or_empty(fields.get("error")).get("message") if content is None else content)[0]


def _has_failed(name: str, fields: dict[str, Any], code: int | None) -> bool | None:
    """Whether it failed by what the event says; None if only an exit code tells, or nothing."""
    result, state = dict_or_empty(fields.get("result")), fields.get("status")
    status = next(iter(state), None) if isinstance(state, dict) else state
    returned = dict_or_empty(result.get("Ok", result))
    if fields.get("new_thread_id", "") is None:  # no sub-agent was started
        return True
    if plain_word(status) in FAILED or fields.get("success") is False or fields.get("error") or "Err" in result:
        return True
    if returned.get("isError") is True or returned.get("is_error") is True:
        return True
    is_known = code is None and (status == "completed" or fields.get("success") is True)
    return False if is_known or name in (*PROVIDED, VIEW, SLEEP) else None
