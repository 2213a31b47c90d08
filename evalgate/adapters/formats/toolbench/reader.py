"""Reads ToolBench answers: a search tree; the chain that led to the answer is the run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import Conversation, failed, first_instructions
from evalgate.adapters.formats.core.build.run_end import ends_the_run, handed_in, missing_results
from evalgate.adapters.formats.core.fields import FieldError, count, flag, listing, mapping, text
from evalgate.adapters.formats.core.format import Reader, no_identity
from evalgate.adapters.formats.core.strict_json import decode, require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import evaluation
from evalgate.adapters.formats.messages.openai import read_messages
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace, unknown_usage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ToolCall

FINISH = "Finish"
ANSWERED = "give_answer"
AT = "answer_generation"
CUT_ERROR = re.compile(r'\{\s*"error":\s*"([^"]+)')


def build(record: Any) -> Trace:
    """Builds the chain that led to the answer; other branches of the search are left out."""
    document = mapping(record, "")
    answer = mapping(document.get(AT), AT)
    require_shallow(answer, 1)
    chains = listing(answer.get("train_messages"), f"{AT}.train_messages")
    if not chains:
        raise FieldError(f"{AT}.train_messages", "is empty: no chain led to an answer")
    path = f"{AT}.train_messages[{len(chains) - 1}]"
    conversation = read_messages(listing(chains[-1], path), path)
    trace = Trace(
        "",
        conversation.messages,
        conversation.calls,
        conversation.response(),
        agent={"framework": "toolbench"},
        system_instructions=first_instructions(conversation.messages),
        tool_definitions=_tools(answer),
    )
    _mark_errors(conversation)
    _add_answer(trace, answer)
    trace.warnings += [*conversation.warnings(), *missing_results(conversation.calls)]
    trace.usage = {
        **unknown_usage(),
        "total_tokens": count(answer.get("total_tokens"), f"{AT}.total_tokens"),
        "source": "recorded_total",
    }
    won = flag(document.get("win"), "win")
    if won is not None:
        trace.evaluations.append(evaluation("win", float(won), "win"))
    return trace


def _tools(answer: dict[str, Any]) -> list[dict[str, Any]]:
    tools = listing(answer.get("function"), f"{AT}.function")
    known = [mapping(tool, f"{AT}.function[{number}]") for number, tool in enumerate(tools)]
    return [
        {key: tool[key] for key in ("name", "description", "parameters") if key in tool} for tool in known
    ]


def _mark_errors(conversation: Conversation) -> None:
    """Marks failed calls: results are JSON text with an `error`, empty on success; long ones are cut."""
    for call in conversation.calls:
        error = _error_in(call["result_text"] or "")
        if error:
            failed(call)
            call["error"] = {"type": None, "message": error}


def _error_in(result: str) -> str | None:
    try:
        value = decode(result.encode())
    except TraceError:
        begun = CUT_ERROR.match(result)
        return begun[1] if begun else None
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, str) else None


def _add_answer(trace: Trace, answer: dict[str, Any]) -> None:
    ended = text(answer.get("finish_type"), f"{AT}.finish_type")
    trace.finish_reason = "stop" if ended == ANSWERED else ended
    last: ToolCall | None = trace.tool_calls[-1] if trace.tool_calls else None
    if last is None or last["name"] != FINISH:
        return
    ends_the_run(last)
    arguments = last["arguments"] if isinstance(last["arguments"], dict) else {}
    said = arguments.get("final_answer")
    asked = next(message for message in reversed(trace.messages) if message["tool_calls"])
    handed_in(trace, said if isinstance(said, str) else None, asked)


READER = Reader(build=build, identify=no_identity)
