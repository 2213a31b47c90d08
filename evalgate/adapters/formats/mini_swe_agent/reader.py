"""Reads mini-swe-agent trajectories: a message list, or `{info, messages, trajectory_format}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.call_outcomes import note_unknown_outcomes
from evalgate.adapters.formats.core.builder.conversation import Conversation, get_instructions
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    add_command_call,
    add_failed_call,
    build_model_error,
    build_trace,
    identify_by,
    mark_final_call,
    open_record,
    set_cost,
    set_final_response,
    set_times,
    warn_of_missing_results,
)
from evalgate.adapters.formats.core.builder.run_end import STEPS, TIME, mark_failed_run, mark_incomplete, mark_stopped
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    any_value,
    do_each,
    first_entry,
    identifier,
    listing,
    mapping,
    prefix_errors,
    read_at,
    read_timestamp,
    required_text,
    text,
    whole_number,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape
from evalgate.adapters.formats.core.patches import begins_patch, set_changed_files
from evalgate.adapters.formats.core.usage import (
    read_cost_usd,
    read_provider_usage,
    split_provider_and_model,
    sum_call_usages,
)
from evalgate.adapters.formats.messages.known_fields import CHAT_FIELDS, PART_FIELDS
from evalgate.adapters.formats.messages.roles import add_message
from evalgate.adapters.formats.mini_swe_agent import RETURN_CODE

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, ToolCall, Trace

TOOL = "bash"
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
BLOCK = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n")
CODE = re.compile(re.escape(RETURN_CODE) + r"\s*(-?\d{1,9})\s*</returncode>")
SUBMITTED = "Submitted"
MODEL_ERRORS = frozenset(
    {"RateLimitError", "Timeout", "APIConnectionError", "ServiceUnavailableError", "InternalServerError", "APIError"}
)
"""Exit statuses that are errors of LiteLLM: a model call failed. A command that fails never ends a run."""
LIMITS = {"LimitsExceeded": f"{STEPS} or cost", "TimeExceeded": TIME}
"""Values of `exit_status` besides that; any other one is the class of the exception that ended the run."""


def build(record: Any) -> Trace:
    """Builds one trajectory. The shell is the only tool, called as a tool or in a code block."""
    document = open_record(record, "messages")
    chat = MeteredConversation()
    do_each(listing(document.get("messages"), "messages"), "messages", lambda message: _add_message(chat, message))
    conversation = chat.conversation
    if not conversation.messages:
        raise FieldError("messages", "is missing or empty")
    info = mapping(document.get("info"), "info")
    trace = build_trace(
        conversation,
        scenario_id=identifier(document.get("instance_id"), "instance_id"),
        system_instructions=get_instructions(conversation.messages),
        llm_calls=chat.llm_calls,
        warnings=[],
    )
    set_times(trace)
    submission = text(info.get("submission"), "info.submission")
    _add_submission(trace, submission)
    if submission is not None and begins_patch(submission):
        set_changed_files(trace, submission, "info.submission")
    trace.warnings += [*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)]
    note_unknown_outcomes(trace, [call for call in trace.tool_calls if _has_unknown_outcome(call)])
    with prefix_errors("info"):
        trace.provider, trace.model = split_provider_and_model(read_at(info, "config.model.model_name", text))
        trace.agent = {"framework": "mini-swe-agent", "version": text(info.get("mini_version"), "mini_version")}
    _add_usage(trace, info)
    if info:
        _add_end(trace, text(info.get("exit_status"), "info.exit_status"))
    if trace.error is not None and trace.error["type"] in MODEL_ERRORS:
        add_failed_call(trace, build_model_error(trace.error["type"], None))
    return trace


def _add_message(chat: MeteredConversation, recorded: dict[str, Any]) -> None:
    message = _read_message(chat.conversation, recorded)
    if message is None:
        return
    extra = mapping(recorded.get("extra"), "extra")
    message["timestamp"] = read_timestamp(extra.get("timestamp"), "extra.timestamp")
    if message["role"] == "assistant" and extra.get("response"):
        _add_llm_call(chat, message, extra)


def _read_message(conversation: Conversation, recorded: dict[str, Any]) -> Message | None:
    role = required_text(recorded.get("role"), "role")
    if role == "exit":  # how the run ended, which `info` holds too
        return None
    if role == "tool" or (role == "user" and conversation.calls):
        return _add_observation(conversation, recorded, is_tool=role == "tool")
    add_message(conversation, recorded)
    message = conversation.messages[-1]
    if role == "assistant" and not message["tool_calls"]:
        for command in _list_commands(recorded, message["content"] or ""):
            add_command_call(conversation, message, command, TOOL)
    return message


def _add_observation(conversation: Conversation, recorded: dict[str, Any], *, is_tool: bool) -> Message:
    """Adds a message of the environment: a command's result, else a complaint about the answer's format."""
    content, parts = read_content(recorded.get("content"), "content")
    if is_tool or _is_waiting(conversation):
        call_id = text(recorded.get("tool_call_id"), "tool_call_id")
        message, call = conversation.add_result(call_id, None, content)
        if call is not None:
            call["exit_code"] = _read_exit_code(recorded, content or "")
    else:
        message = conversation.add_message("user", content, is_input=False)
    message["parts"] = parts
    return message


def _is_waiting(conversation: Conversation) -> bool:
    """True while the model's last answer has a command without a result."""
    last = conversation.calls[-1]
    return last["step"] == conversation.step and last["status"] == "missing"


def _read_exit_code(recorded: dict[str, Any], content: str) -> int | None:
    code: int | None = read_at(recorded, "extra.returncode", whole_number)
    found = CODE.match(content) if code is None else None
    return code if found is None else int(found[1])


def _list_commands(recorded: dict[str, Any], content: str) -> list[str]:
    """The commands that the agent extracted from an answer, else those in its code blocks."""
    actions = read_at(recorded, "extra.actions", ACTION.read_each)
    return [action["command"] for action in actions] or _find_code_blocks(content)


ACTION = FieldTable(command=required_text)


def _find_code_blocks(content: str) -> list[str]:
    blocks, position = [], 0
    while opening := BLOCK.search(content, position):
        end = content.find("\n```", opening.end() - 1)
        if end < 0:
            break
        blocks.append(content[opening.end() : end])
        position = end + 4
    commands = [command for command in map(str.strip, blocks) if command]
    return commands if len(commands) == 1 else []  # the agent runs none if there are several


def _add_llm_call(chat: MeteredConversation, message: Message, extra: dict[str, Any]) -> None:
    response = mapping(extra["response"], "extra.response")
    choice = first_entry(response.get("choices"), "extra.response.choices")
    finished = text(choice.get("finish_reason"), "extra.response.choices[0].finish_reason")
    usage = read_provider_usage(response.get("usage"), "extra.response.usage")
    call = chat.add_llm_call(
        usage,
        finished,
        model=text(response.get("model"), "extra.response.model"),
        response_id=text(response.get("id"), "extra.response.id"),
        cost_usd=read_cost_usd(extra.get("cost"), usage, "extra.cost")[0]["usd"],
    )
    message["finish_reason"] = call["finish_reason"]


def _has_unknown_outcome(call: ToolCall) -> bool:
    """Whether a result lacks the exit code; the run ends with a submission, which is recorded without one."""
    return call["status"] != "missing" and call["exit_code"] is None and SUBMIT not in str(call["arguments"])


def _add_submission(trace: Trace, submission: str | None) -> None:
    """The last command submits what it prints; older files keep that only as its result."""
    last = trace.tool_calls[-1] if trace.tool_calls else None
    if last is None or SUBMIT not in str(last["arguments"]):
        set_final_response(trace, submission)
        return
    calling_messages = [message for message in trace.messages if message["tool_calls"]]
    set_final_response(trace, submission or last["result_text"], calling_messages[-1])
    mark_final_call(last)


def _add_usage(trace: Trace, info: dict[str, Any]) -> None:
    answers = sum(message["role"] == "assistant" for message in trace.messages)
    trace.usage, about_usage = sum_call_usages(trace.llm_calls, answers - len(trace.llm_calls))
    trace.warnings += about_usage
    set_cost(trace, read_at(info, "model_stats.instance_cost", any_value), "info.model_stats.instance_cost")


def _add_end(trace: Trace, status: str | None) -> None:
    if not status:
        mark_incomplete(trace, "the run has no exit status: it did not finish")
        return
    trace.metadata["exit_status"] = status
    trace.finish_reason = "stop" if status == SUBMITTED else status
    if status in LIMITS:
        mark_stopped(trace, LIMITS[status])
    elif status != SUBMITTED:
        mark_failed_run(trace, status)


SHAPES = (
    Shape(("messages", EACH), CHAT_FIELDS | {"extra", "tool_call_ids"}),
    Shape(("messages", EACH, "content", EACH), PART_FIELDS),
)
READER = Reader(build=build, identify=identify_by("instance_id"), shapes=SHAPES, reads_texts=True)
