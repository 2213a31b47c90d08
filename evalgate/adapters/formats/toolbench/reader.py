"""Reads ToolBench answers: a search tree; the chain that led to the answer is the run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import Conversation, get_instructions, mark_failed
from evalgate.adapters.formats.core.builder.run import (
    build_trace,
    mark_final_call,
    set_final_response,
    warn_of_missing_results,
)
from evalgate.adapters.formats.core.builder.side_fields import read_tool_definitions
from evalgate.adapters.formats.core.fields import FieldError, count, dict_or_empty, flag, listing, mapping, text
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity
from evalgate.adapters.formats.core.strict_json import decode, require_shallow
from evalgate.adapters.formats.core.usage import build_score
from evalgate.adapters.formats.messages.known_fields import CHAT_FIELDS
from evalgate.adapters.formats.messages.roles import read_conversation
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace, unknown_usage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ToolCall

FINISH = "Finish"
GIVE_ANSWER = "give_answer"
ANSWER_PATH = "answer_generation"
CUT_ERROR = re.compile(r'\{\s*"error":\s*"([^"]+)')


def build(record: Any) -> Trace:
    """Builds the chain that led to the answer; other branches of the search are left out."""
    document = mapping(record, "")
    answer = mapping(document.get(ANSWER_PATH), ANSWER_PATH)
    require_shallow(answer, 1)
    chains = listing(answer.get("train_messages"), f"{ANSWER_PATH}.train_messages")
    if not chains:
        raise FieldError(f"{ANSWER_PATH}.train_messages", "is empty: no chain led to an answer")
    path = f"{ANSWER_PATH}.train_messages[{len(chains) - 1}]"
    conversation = read_conversation(listing(chains[-1], path), path)
    trace = build_trace(
        conversation,
        agent={"framework": "toolbench"},
        system_instructions=get_instructions(conversation.messages),
        tool_definitions=read_tool_definitions(answer.get("function"), f"{ANSWER_PATH}.function"),
        warnings=[],
    )
    _mark_errors(conversation)
    _add_answer(trace, answer)
    trace.warnings += [*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)]
    trace.usage = {
        **unknown_usage(),
        "total_tokens": count(answer.get("total_tokens"), f"{ANSWER_PATH}.total_tokens"),
        "source": "recorded_total",
    }
    won = flag(document.get("win"), "win")
    if won is not None:
        trace.evaluations.append(build_score("win", float(won), "win"))
    return trace


def _mark_errors(conversation: Conversation) -> None:
    """Marks failed calls: results are JSON text with an `error`, empty on success; long ones are cut."""
    for call in conversation.calls:
        error = _find_error(call["result_text"] or "")
        if error:
            mark_failed(call)
            call["error"] = {"type": None, "message": error}
        elif call["status"] == "unknown":
            call["status"] = "ok"


def _find_error(result: str) -> str | None:
    try:
        value = decode(result.encode())
    except TraceError:
        error_match = CUT_ERROR.match(result)
        return error_match[1] if error_match else None
    error = dict_or_empty(value).get("error")
    return error if isinstance(error, str) else None


def _add_answer(trace: Trace, answer: dict[str, Any]) -> None:
    ended = text(answer.get("finish_type"), f"{ANSWER_PATH}.finish_type")
    trace.finish_reason = "stop" if ended == GIVE_ANSWER else ended
    last: ToolCall | None = trace.tool_calls[-1] if trace.tool_calls else None
    if last is None or last["name"] != FINISH:
        return
    mark_final_call(last)
    final_answer = dict_or_empty(last["arguments"]).get("final_answer")
    calling_message = next(message for message in reversed(trace.messages) if message["tool_calls"])
    set_final_response(trace, final_answer if isinstance(final_answer, str) else None, calling_message)


SHAPES = (Shape((ANSWER_PATH, "train_messages", EACH, EACH), CHAT_FIELDS),)
READER = Reader(build=build, identify=no_identity, shapes=SHAPES, reads_texts=True)
