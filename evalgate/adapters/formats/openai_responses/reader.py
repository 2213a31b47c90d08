"""Reads OpenAI Responses: item lists as the Agents SDK gives them, and raw responses with input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.llm_calls import MeteredConversation
from evalgate.adapters.formats.core.build.raw_message import RawMessage, written
from evalgate.adapters.formats.core.build.run_end import handed_in, incomplete
from evalgate.adapters.formats.core.build.side_fields import identify_beside
from evalgate.adapters.formats.core.chat_shapes import conversations
from evalgate.adapters.formats.core.fields import FieldError, amount, listing, mapping, text
from evalgate.adapters.formats.core.format import Reader
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.provider_response import openai_usage
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, milliseconds
from evalgate.adapters.formats.messages import responses
from evalgate.adapters.formats.openai_responses import is_responses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace, Usage

PROVIDER = "openai"
LISTS = ("input", "items", "messages")


def split(document: Any) -> Sequence[Any]:
    """Returns the conversations of a document."""
    return conversations(document, is_responses)


def build(record: Any) -> Trace:
    """Builds one trace with the usage of the response, or the usage next to the items."""
    require_shallow(record)
    beside = {"items": record} if isinstance(record, list) else mapping(record, "")
    answer = beside if beside.get("output") is not None else mapping(beside.get("response"), "response")
    story = MeteredConversation()
    words = text(_either(answer, beside, "instructions"), "instructions")
    if words:
        story.say([RawMessage("system", words)])
    _say_input(story, beside)
    _say_items(story, answer.get("output"), "output")
    if answer:
        _meter(story, answer)
    else:
        story.total = _usage(beside.get("usage"))
    trace = story.trace(beside)
    trace.provider = text(beside.get("provider"), "provider") or PROVIDER
    trace.trace_id = trace.trace_id or text(answer.get("id"), "id") or ""
    _add_end(trace, answer)
    _hand_in(trace, beside.get("final_output"))
    return trace


def _either(answer: dict[str, Any], beside: dict[str, Any], key: str) -> Any:
    """The field of the response, else of the document; None for a list (instructions may be one)."""
    found = answer.get(key) if answer.get(key) is not None else beside.get(key)
    return None if isinstance(found, list) else found


def _say_input(story: MeteredConversation, beside: dict[str, Any]) -> None:
    key = next((name for name in LISTS if beside.get(name) is not None), None)
    if key is None:
        return
    if key == "input" and isinstance(beside[key], str):
        story.say([RawMessage("user", beside[key])])
    else:
        _say_items(story, beside[key], key)


def _say_items(story: MeteredConversation, items: Any, path: str) -> None:
    try:
        story.say(responses.read(listing(items, path)))
    except FieldError as error:
        raise error.under("" if error.path.startswith(path) else path) from None


def _meter(story: MeteredConversation, answer: dict[str, Any]) -> None:
    usage = _usage(answer.get("usage"))
    model = text(answer.get("model"), "model")
    if usage is not None or model is not None:
        details = mapping(answer.get("incomplete_details"), "incomplete_details")
        reason = text(details.get("reason"), "incomplete_details.reason")
        reason = reason or ("stop" if answer.get("status") == "completed" else None)
        story.meter(
            usage, provider=PROVIDER, model=model, response_id=text(answer.get("id"), "id"), reason=reason
        )


def _usage(value: Any) -> Usage | None:
    """Reads tokens; zeros mean that they were not counted."""
    told = dict(mapping(value, "usage"))
    for key in ("input_tokens_details", "output_tokens_details"):
        if isinstance(told.get(key), list):
            told[key] = told[key][0] if told[key] else None
    if not told.get("input_tokens") and not told.get("output_tokens"):
        return None
    try:
        return openai_usage(told)
    except FieldError as error:
        raise error.under("usage") from None


def _add_end(trace: Trace, answer: dict[str, Any]) -> None:
    status = text(answer.get("status"), "status")
    if status in ("failed", "cancelled"):
        error = mapping(answer.get("error"), "error")
        trace.status = "error"
        trace.error = {
            "type": text(error.get("code"), "error.code") or status,
            "message": text(error.get("message"), "error.message"),
        }
    elif status in ("incomplete", "in_progress", "queued"):
        reason = trace.finish_reason and finish_reason(trace.finish_reason)
        incomplete(trace, f"the response is {status}" + (f" ({reason})" if reason else ""))
    begun, ended = (
        amount(answer.get("created_at"), "created_at"),
        amount(answer.get("completed_at"), "completed_at"),
    )
    if trace.latency["total_ms"] is None and begun is not None and ended is not None and ended >= begun:
        trace.latency = {"total_ms": milliseconds(ended - begun), "source": "timestamps"}


def _hand_in(trace: Trace, final: Any) -> None:
    """Makes the run's final output, which may be any JSON value, its response."""
    if final is not None:
        answer = final if isinstance(final, str) else written(final)
        said = [message for message in trace.messages if message["content"] == answer]
        handed_in(trace, answer, said[-1] if said else None)


READER = Reader(build=build, identify=identify_beside, split=split)
