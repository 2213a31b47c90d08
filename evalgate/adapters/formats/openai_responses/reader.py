"""Reads OpenAI Responses: item lists as the Agents SDK gives them, and raw responses with input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.evidence_gaps import note_unknown
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    build_model_error,
    open_record,
    set_final_response,
)
from evalgate.adapters.formats.core.builder.run_end import (
    FILTER,
    LENGTH,
    mark_failed_run,
    mark_incomplete,
    mark_stopped,
)
from evalgate.adapters.formats.core.builder.side_fields import identify_by_side_fields
from evalgate.adapters.formats.core.fields import FieldError, amount, listing, mapping, read_at, text
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, split_each
from evalgate.adapters.formats.core.provider_response import RESPONSES_USAGE
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.core.usage import to_milliseconds
from evalgate.adapters.formats.messages import responses
from evalgate.adapters.formats.messages.kept_elsewhere import find_earlier, find_replaced, note_elsewhere
from evalgate.adapters.formats.messages.known_fields import ITEM_FIELDS, PART_FIELDS
from evalgate.adapters.formats.openai_responses import is_responses

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ModelError, Trace, Usage

PROVIDER = "openai"
LISTS = ("input", "items", "messages")


OPEN = ("in_progress", "queued", "cancelled", "incomplete")
"""Statuses of a response that is not complete."""


def build(record: Any) -> Trace:
    """Builds one trace with the usage of the response, or the usage next to the items."""
    document = open_record(record, "items")
    answer = document if document.get("output") is not None else mapping(document.get("response"), "response")
    chat = MeteredConversation()
    instructions = text(_read_either(answer, document, "instructions"), "instructions")
    if instructions:
        chat.add_messages([RawMessage("system", instructions)])
    _add_input(chat, document)
    _add_items(chat, answer.get("output"), "output")
    chat.failure = _read_failure(answer)
    if answer and chat.failure is None:
        _add_llm_call(chat, answer)
    elif not answer:
        chat.total = _read_usage(document.get("usage"))
    is_own = answer is document and answer.get("status") in OPEN
    trace = chat.build_trace({**document, "status": None} if is_own else document)
    trace.provider = text(document.get("provider"), "provider") or PROVIDER
    trace.trace_id = trace.trace_id or text(answer.get("id"), "id") or ""
    _add_end(trace, answer, chat.failure)
    _add_final_output(trace, document.get("final_output"))
    note_unnamed(trace, {**document, "output": answer.get("output")})
    _note_elsewhere(trace, document, answer)
    return trace


def note_unnamed(trace: Trace, document: dict[str, Any]) -> None:
    """Notes items of unknown types in any list of a document."""
    for name in (*LISTS, "output"):
        note_unknown(trace, responses.find_unnamed(document.get(name), name))


def _note_elsewhere(trace: Trace, document: dict[str, Any], answer: dict[str, Any]) -> None:
    """What the output stands for is in the input, where that is recorded."""
    given = next((document[name] for name in LISTS if document.get(name) is not None), None)
    found = find_replaced(answer.get("output") if given is None else given)
    note_elsewhere(trace, (find_earlier(document), find_earlier(answer), found))


def _read_either(answer: dict[str, Any], document: dict[str, Any], key: str) -> Any:
    """The field of the response, else of the document; None for a list (instructions may be one)."""
    found = answer.get(key) if answer.get(key) is not None else document.get(key)
    return None if isinstance(found, list) else found


def _add_input(chat: MeteredConversation, document: dict[str, Any]) -> None:
    key = next((name for name in LISTS if document.get(name) is not None), None)
    if key is None:
        return
    if key == "input" and isinstance(document[key], str):
        chat.add_messages([RawMessage("user", document[key])])
    else:
        _add_items(chat, document[key], key)


def _add_items(chat: MeteredConversation, items: Any, path: str) -> None:
    try:
        chat.add_messages(responses.read_messages(listing(items, path)))
    except FieldError as error:
        raise error.with_prefix("" if error.path.startswith(path) else path) from None


def _add_llm_call(chat: MeteredConversation, answer: dict[str, Any]) -> None:
    usage = _read_usage(answer.get("usage"))
    model = text(answer.get("model"), "model")
    if usage is not None or model is not None:
        reason = read_at(answer, "incomplete_details.reason", text)
        reason = reason or ("stop" if answer.get("status") == "completed" else None)
        chat.add_llm_call(usage, reason, provider=PROVIDER, model=model, response_id=text(answer.get("id"), "id"))


def _read_usage(value: Any) -> Usage | None:
    """Reads tokens; zeros mean that they were not counted."""
    usage = RESPONSES_USAGE.read(value, "usage")
    return usage if usage["input_tokens"] or usage["output_tokens"] else None


def _read_failure(answer: dict[str, Any]) -> ModelError | None:
    """Why the response failed; None if it did not."""
    status = text(answer.get("status"), "status")
    if status != "failed":
        return None
    error = mapping(answer.get("error"), "error")
    kind, message = text(error.get("code"), "error.code"), text(error.get("message"), "error.message")
    return build_model_error(kind or status, message)


def _add_end(trace: Trace, answer: dict[str, Any], failure: ModelError | None) -> None:
    status = text(answer.get("status"), "status")
    if failure is not None:
        mark_failed_run(trace, failure["type"], failure["message"])
    elif status == "incomplete":
        mark_stopped(trace, LENGTH if trace.finish_reason == "length" else FILTER)
    elif status in OPEN:
        mark_incomplete(trace, f"the response is {status}")
    started, ended = (
        amount(answer.get("created_at"), "created_at"),
        amount(answer.get("completed_at"), "completed_at"),
    )
    if trace.latency["total_ms"] is None and started is not None and ended is not None and ended >= started:
        trace.latency = {"total_ms": to_milliseconds(ended - started), "source": "timestamps"}


def _add_final_output(trace: Trace, final_output: Any) -> None:
    """Makes the run's final output, which may be any JSON value, its response."""
    if final_output is not None:
        answer = final_output if isinstance(final_output, str) else encode_json(final_output)
        messages = [message for message in trace.messages if message["content"] == answer]
        set_final_response(trace, answer, messages[-1] if messages else None)


SHAPES = (
    *(Shape((name, EACH), ITEM_FIELDS) for name in (*LISTS, "output")),
    *(Shape((name, EACH, "content", EACH), PART_FIELDS) for name in (*LISTS, "output")),
)
READER = Reader(
    build=build, identify=identify_by_side_fields, split=split_each(is_responses), shapes=SHAPES, is_of_one_agent=True
)
