"""Chat conversations in which a call of `delete_user` is recorded in the ways that libraries and people record it."""

from __future__ import annotations

import json
from typing import Any

TOOL = "delete_user"
ARGUMENTS = {"user_id": "u-17"}
AS_TEXT = json.dumps(ARGUMENTS)
NAMED = {"name": TOOL, "arguments": ARGUMENTS}
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": TOOL, "arguments": AS_TEXT}}
ASSISTANT = {"role": "assistant", "content": "", "tool_calls": [OPENAI_CALL]}
ANSWER = {"role": "assistant", "content": "The account is gone."}
REQUEST = {"role": "user", "content": "Please clean up the account."}
TOOL_USE = {"toolUseId": "t1", "name": TOOL, "input": ARGUMENTS}

PARTS: dict[str, dict[str, Any]] = {
    "toolUse of Bedrock": {"toolUse": TOOL_USE},
    "functionCall of Gemini": {"functionCall": {"name": TOOL, "args": ARGUMENTS}},
    "function_call without type": {"function_call": {"name": TOOL, "args": ARGUMENTS}},
    "unknown type": {"type": "action_request", "name": TOOL, "input": ARGUMENTS},
    "unknown type with other names": {"type": "tool_request", "tool": TOOL, "parameters": ARGUMENTS},
    "no type": NAMED,
    "no type, function inside": {"id": "c1", "function": {"name": TOOL, "arguments": AS_TEXT}},
    "toolCall": {"type": "toolCall", "id": "c1", **NAMED},
    "toolRequest of Goose": {"type": "toolRequest", "id": "r", "toolCall": {"status": "success", "value": NAMED}},
    "mcp_call": {"type": "mcp_call", "server_label": "crm", "name": TOOL, "arguments": AS_TEXT},
    "kind instead of type": {"kind": "tool-call", "tool_name": TOOL, "args": ARGUMENTS},
    "toolInvocation": {"type": "tool-invocation", "toolInvocation": {"toolName": TOOL, "args": ARGUMENTS}},
    "tool-NAME of Vercel without id": {"type": f"tool-{TOOL}", "state": "input-available", "input": ARGUMENTS},
    "dynamic-tool of Vercel": {"type": "dynamic-tool", "toolName": TOOL, "toolCallId": "c", "input": ARGUMENTS},
    "tool_call of Haystack": {"tool_call": {"tool_name": TOOL, "arguments": ARGUMENTS}},
    "block_type of LlamaIndex": {"block_type": "tool_call", "tool_name": TOOL, "tool_kwargs": ARGUMENTS},
    "FunctionCallContent of Semantic Kernel": {
        "$type": "FunctionCallContent",
        "plugin_name": "users",
        "function_name": TOOL,
        "arguments": AS_TEXT,
    },
    "text type with a call beside": {"type": "text", "text": "One moment.", "tool_call": NAMED},
    "call in an unknown object": {"type": "data", "data": {"step": {"call": NAMED}}},
    "arguments as a list of pairs": {"type": "call", "tool_name": TOOL, "tool_args": [{"key": "user_id", "value": 1}]},
    "no arguments": {"type": "tool_use", "id": "c1", "name": TOOL},
    "unknown type without arguments": {"type": "tool_request", "name": TOOL},
}
"""Parts of an assistant's content."""

FIELDS: dict[str, Any] = {
    "toolCalls": [NAMED],
    "tool_call": NAMED,
    "function_calls": [NAMED],
    "functionCall": {"name": TOOL, "args": ARGUMENTS},
    "function_call": {"name": TOOL, "arguments": AS_TEXT},
    "tool_uses": [{"recipient_name": f"functions.{TOOL}", "parameters": ARGUMENTS}],
    "toolInvocations": [{"state": "call", "toolCallId": "c", "toolName": TOOL, "args": ARGUMENTS}],
    "actions": [{"tool": TOOL, "tool_input": ARGUMENTS, "log": ""}],
    "action": {"tool": TOOL, "tool_input": AS_TEXT},
    "additional_kwargs": {"tool_calls": [OPENAI_CALL]},
    "parts": [{"functionCall": {"name": TOOL, "args": ARGUMENTS}}],
    "items": [{"$type": "FunctionCallContent", "functionName": TOOL, "arguments": ARGUMENTS}],
    "contents": [{"type": "function_call", "call_id": "c1", "name": TOOL, "arguments": AS_TEXT}],
    "blocks": [{"block_type": "tool_call", "tool_name": TOOL, "tool_kwargs": ARGUMENTS}],
    "tools_used": [TOOL],
    "tools_called": [{"name": TOOL, "input_parameters": ARGUMENTS}],
    "tool_requests": json.dumps([NAMED]),
    "response_metadata": {"message": {"tool_calls": [OPENAI_CALL]}},
    "kwargs": {"tool_calls": [{"name": TOOL, "args": ARGUMENTS, "id": "c1", "type": "tool_call"}]},
    "tool": {"name": TOOL, "input": ARGUMENTS},
    "tool_name": TOOL,
}
"""Fields of an assistant's message."""

TOOL_CALLS: dict[str, Any] = {
    "with parameters, as Cohere": [{"name": TOOL, "parameters": ARGUMENTS}],
    "with arguments as an object, as Ollama": [{"function": {"name": TOOL, "arguments": ARGUMENTS}}],
    "with args, as LangChain": [{"name": TOOL, "args": ARGUMENTS, "id": "c1", "type": "tool_call"}],
    "with input": [{"name": TOOL, "input": ARGUMENTS}],
    "with toolName": [{"toolName": TOOL, "args": ARGUMENTS}],
    "with tool": [{"tool": TOOL, "args": ARGUMENTS}],
    "with fn": [{"fn": TOOL, "kwargs": ARGUMENTS}],
    "with function as a word": [{"function": TOOL, "arguments": ARGUMENTS}],
    "with payload": [{"payload": NAMED}],
    "with a name only": [{"name": TOOL}],
    "of words": [TOOL],
    "as an object": {"name": TOOL, "arguments": ARGUMENTS},
    "by id": {"c1": {"name": TOOL, "arguments": ARGUMENTS}},
    "by name": {TOOL: ARGUMENTS},
    "as JSON text": json.dumps([OPENAI_CALL]),
    "as Python text": str([OPENAI_CALL]),
    "as a list of lists": [[OPENAI_CALL]],
    "with an unknown name field": [{"tool_identifier": TOOL, "tool_payload": ARGUMENTS}],
    "with a name and one argument each": [{TOOL: ARGUMENTS}],
}
"""Values of `tool_calls` of an assistant's message."""

BESIDE: dict[str, Any] = {
    "response": ASSISTANT,
    "completion": {"choices": [{"message": ASSISTANT, "finish_reason": "tool_calls"}]},
    "output": [{"type": "function_call", "call_id": "c1", "name": TOOL, "arguments": AS_TEXT}],
    "outputs": {"messages": [ASSISTANT]},
    "tool_calls": [NAMED],
    "steps": [{"action": TOOL, "action_input": ARGUMENTS}],
    "choices": [{"message": ASSISTANT, "finish_reason": "tool_calls"}],
    "result": {"tool_calls": [NAMED]},
    "events": [{"type": "tool", "tool": TOOL, "args": ARGUMENTS}],
    "trajectory": [{"tool_name_0": TOOL, "tool_args_0": ARGUMENTS}],
    "intermediate_steps": [[{"tool": TOOL, "tool_input": ARGUMENTS, "log": ""}, "done"]],
    "new_messages": [ASSISTANT],
    "history": [ASSISTANT],
    "turns": [{"assistant": {"calls": [NAMED]}}],
    "actual_tool_calls": [NAMED],
    "tool_log": json.dumps([NAMED]),
    "response_text": json.dumps({"tool_calls": [NAMED]}),
    "extra": {"tool_use": [TOOL]},
    "executed": {"delete_user": {"arguments": ARGUMENTS}},
}
"""Fields beside `messages`."""


def list_chats() -> dict[str, Any]:
    """Every chat document by its name."""
    chats: dict[str, Any] = {}
    for name, part in PARTS.items():
        chats[f"part: {name}"] = chat({"role": "assistant", "content": [part]})
    for name, value in FIELDS.items():
        chats[f"message: {name}"] = chat({"role": "assistant", "content": None, name: value})
    for name, value in TOOL_CALLS.items():
        chats[f"tool_calls: {name}"] = chat({"role": "assistant", "content": "", "tool_calls": value})
    for name, value in BESIDE.items():
        chats[f"beside: {name}"] = {**chat(), name: value}
    chats["choices: the second"] = {**chat(), "choices": [{"message": ANSWER}, {"message": ASSISTANT}]}
    chats["role: tool_call"] = chat({"role": "tool_call", "content": json.dumps(NAMED)})
    chats["role: function_call"] = chat({"role": "function_call", "content": json.dumps(NAMED)})
    chats["role: model"] = chat({"role": "model", "parts": [{"functionCall": {"name": TOOL, "args": ARGUMENTS}}]})
    chats["role: user"] = chat({"role": "user", "content": "x", "tool_calls": [OPENAI_CALL]})
    chats["message: a name and arguments"] = chat({"role": "assistant", "content": "", **NAMED})
    chats["message: a call for a message"] = chat({"type": "function_call", "name": TOOL, "arguments": AS_TEXT})
    chats["message: a list"] = chat([{"role": "assistant", "tool_calls": [OPENAI_CALL]}])  # type: ignore[arg-type]
    chats["result without its call"] = chat({"role": "tool", "tool_call_id": "c1", "name": TOOL, "content": "deleted"})
    return chats


def list_native_traces() -> dict[str, Any]:
    """The same in the native format."""
    traces = {}
    for name, document in list_chats().items():
        if name != "beside: history":  # the same as a chat, at a tenth of the price
            traces[f"native {name}"] = {"schema": "evalgate.trace/1", "scenario_id": "a", **document}
    return traces


def chat(*messages: dict[str, Any]) -> dict[str, Any]:
    """A conversation with these messages between request and answer."""
    return {"messages": [REQUEST, *messages, ANSWER]}
