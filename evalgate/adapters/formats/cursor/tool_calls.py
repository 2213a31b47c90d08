"""Reads the `tool_call` object of Cursor's lines, whose key names the tool: `readToolCall`, `mcpToolCall`."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalgate.adapters.formats.core.fields import FieldError, flag, mapping, prefix_errors, required_text, whole_number
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.messages.blocks import is_tool_call, join_text, read_request

SUFFIX = "ToolCall"
MCP = "mcpToolCall"
FUNCTION = "function"
SHORTENED = frozenset({"truncatedToolCall", "unknownToolCall"})
SUB_AGENT = "task"
CALL_ID = "toolCallId"
STEPS = "conversationSteps"
STEP_TEXTS = frozenset({"assistantMessage", "thinkingMessage", "userMessage"})


class Outcome(NamedTuple):
    """What a tool returned."""

    content: Any
    is_error: bool
    exit_code: int | None


class CursorCall(NamedTuple):
    """One call; `name` is None if the line names no tool, as that of an ended MCP call may."""

    name: str | None
    arguments: Any
    outcome: Outcome | None
    steps: list[Any] | None
    is_shortened: bool = False


def read_tool_call(value: dict[str, Any]) -> list[CursorCall]:
    """The calls of the object; raises FieldError if it holds none, or something else."""
    if is_tool_call(value):
        request = read_request(value)
        return [CursorCall(request.name, request.arguments, _read_outcome(value.get("result")), None)]
    calls = []
    for key, body in value.items():
        if body.__class__ is dict and (key.endswith(SUFFIX) or key == FUNCTION or "args" in body):
            with prefix_errors(make_printable(key)):
                calls.append(_read_body(key, body))
        elif body.__class__ in (dict, list) and body:
            raise FieldError(make_printable(key), "is not a call of a known form")
    if not calls:
        raise FieldError("", "names no tool")
    return calls


def read_steps(steps: list[Any]) -> list[CursorCall]:
    """The calls of a sub-agent, from the steps in the result of the call that started it."""
    calls: list[CursorCall] = []
    for number, value in enumerate(steps):
        path = f"{STEPS}[{number}]"
        step = mapping(value, path)
        with prefix_errors(path):
            if isinstance(step.get("toolCall"), dict):
                with prefix_errors("toolCall"):
                    calls += read_tool_call(step["toolCall"])
            elif STEP_TEXTS.isdisjoint(step):
                raise FieldError("", "is not a step of a known form")
    return calls


def _read_body(key: str, body: dict[str, Any]) -> CursorCall:
    outcome = _read_outcome(body.get("result"))
    if key == FUNCTION:
        return CursorCall(required_text(body.get("name"), "name"), body.get("arguments"), outcome, None)
    arguments = mapping(body.get("args"), "args")
    if key == MCP:
        name = arguments.get("toolName", body.get("toolName", arguments.get("name")))
        if name is None and outcome is None:
            raise FieldError("args.toolName", "is missing")
        known = None if name is None else required_text(name, "args.toolName")
        return CursorCall(known, arguments.get("args", arguments.get("arguments")), outcome, None)
    name = key.removesuffix(SUFFIX) or key
    own = {key: value for key, value in arguments.items() if key != CALL_ID}
    recorded = own if "args" in body else None
    return CursorCall(name, recorded, outcome, _find_steps(body.get("result")), key in SHORTENED)


def _find_steps(result: Any) -> list[Any] | None:
    success = result.get("success") if isinstance(result, dict) else None
    steps = success.get(STEPS) if isinstance(success, dict) else None
    return steps if isinstance(steps, list) else None


def _read_outcome(result: Any) -> Outcome | None:
    """The result by its key: `success`, or one that names why there is none (`error`, `rejected`, `timeout`)."""
    if result is None:
        return None
    if result.__class__ is not dict:
        return Outcome(result, is_error=False, exit_code=None)
    success = result.get("success")
    if success is None and result:
        key = next(iter(result))
        failure = result[key]
        code = failure.get("exitCode") if isinstance(failure, dict) else None
        return Outcome(_find_text(failure), is_error=True, exit_code=whole_number(code, "exitCode"))
    if success.__class__ is not dict:
        return Outcome(success, is_error=False, exit_code=None)
    code = whole_number(success.get("exitCode"), "exitCode")
    has_failed = bool(code) or bool(flag(success.get("isError"), "isError"))
    return Outcome(_find_text(success), has_failed, code)


def _find_text(value: Any) -> Any:
    """The text of a result, if it has one; else the result as recorded, without the steps of a sub-agent."""
    if value.__class__ is not dict:
        return value
    if "stdout" in value or "stderr" in value:
        return "".join(each for each in (value.get("stdout"), value.get("stderr")) if isinstance(each, str))
    for key in ("content", "errorMessage", "message", "error", "reason"):
        found = value.get(key)
        if found.__class__ is str:
            return found
        if found.__class__ is list:
            return join_text([_unwrap(each) for each in found]) or found
    return {key: each for key, each in value.items() if key != STEPS}


def _unwrap(block: Any) -> Any:
    """A text block of an MCP result: `{"text": {"text": ...}}`."""
    inner = block.get("text") if isinstance(block, dict) else None
    return inner if isinstance(inner, dict) else block
