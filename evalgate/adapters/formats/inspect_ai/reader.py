"""Reads Inspect logs, as JSON or as `.eval` archives: one trace per sample and epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.build.conversation import get_instructions
from evalgate.adapters.formats.core.fields import count, identifier, listing, mapping, text, time
from evalgate.adapters.formats.core.format import Identity, Reader, build_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, split_provider_and_model
from evalgate.adapters.formats.inspect_ai.archive import Archive, PackedSample, unpack
from evalgate.adapters.formats.inspect_ai.event_calls import merge_event_calls
from evalgate.adapters.formats.inspect_ai.events import InspectEvents, read_duration_ms
from evalgate.adapters.formats.inspect_ai.sample_messages import Attachments, SampleMessages
from evalgate.adapters.formats.inspect_ai.scores import read_scores
from evalgate.adapters.formats.inspect_ai.usage import llm_calls, measure
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Response

STOP_REASONS = {"model_length": "length"}


class Sample(NamedTuple):
    """One sample of a log; a packed sample is unpacked when its trace is built."""

    log: Any
    value: Any
    member: PackedSample | None = None


def split(documents: list[Any]) -> Sequence[Sample]:
    """The samples of all logs of the file; raises TraceError if there are no samples."""
    found: list[Sample] = []
    status = None
    for document in documents:
        if isinstance(document, Archive):
            found += (Sample(document.header, None, member) for member in document.members)
            log = document.header
        else:
            log = document
            samples = listing(log.get("samples"), "samples") if isinstance(log, dict) else []
            found += (Sample(log, value) for value in samples)
        status = log.get("status") if isinstance(log, dict) else None
    if not found:
        ended = f", and its run was {status}" if status in ("started", "cancelled", "error") else ""
        raise TraceError(f"the log has no samples{ended}")
    return found


def build(record: Sample) -> Trace:
    """Builds one sample: what the agent did, without the models that judged it."""
    value = record.value if record.member is None else record.member.read()
    require_shallow(value)
    sample = mapping(value, "")
    settings = mapping(mapping(record.log, "").get("eval"), "eval")
    transcript = mapping(sample.get("transcript"), "transcript")  # before 2025, events were in here
    events = InspectEvents(listing(sample.get("events", transcript.get("events")), "events"))
    attachments = Attachments(mapping(sample.get("attachments", transcript.get("content")), "attachments"))
    chat = SampleMessages(listing(sample.get("messages"), "messages"), attachments)
    conversation = chat.conversation
    trace = Trace(
        text(sample.get("uuid"), "uuid") or "",
        conversation.messages,
        merge_event_calls(conversation.calls, attachments.resolve(events.tool_runs)),
        conversation.get_response(),
        scenario_id=identifier(sample.get("id"), "id"),
        trial=count(sample.get("epoch"), "epoch"),
        agent={"name": text(settings.get("solver"), "eval.solver"), "framework": "inspect"},
        started_at=events.first_time or time(sample.get("started_at"), "started_at"),
        ended_at=events.last_time or time(sample.get("completed_at"), "completed_at"),
        system_instructions=get_instructions(conversation.messages),
        llm_calls=llm_calls(events, chat),
        evaluations=read_scores(sample),
        warnings=conversation.list_warnings(),
    )
    trace.provider, trace.model = split_provider_and_model(text(settings.get("model"), "eval.model"))
    _describe(trace, sample, settings, events, attachments)
    _add_end(trace, sample, chat, attachments)
    measure(trace, sample, events, text(settings.get("model"), "eval.model"))
    if attachments.missing:
        message = f"{attachments.missing} attachments that are referred to are not in the log"
        trace.warnings.append({"code": "content_not_captured", "message": message, "where": "messages"})
    return trace


def identify(record: Sample) -> Identity:
    """Sample id and epoch."""
    if record.member is not None:
        return build_identity(record.member.id, record.member.epoch)
    sample = record.value
    return build_identity(sample.get("id"), sample.get("epoch")) if isinstance(sample, dict) else (None, None)


def _describe(
    trace: Trace,
    sample: dict[str, Any],
    settings: dict[str, Any],
    events: InspectEvents,
    attachments: Attachments,
) -> None:
    trace.metadata["task"] = text(settings.get("task"), "eval.task")
    trace.metadata["target"] = sample.get("target")
    trace.metadata["sample"] = mapping(sample.get("metadata"), "metadata")
    trace.tags = [tag for tag in listing(settings.get("tags"), "eval.tags") if isinstance(tag, str)]
    for tool in events.own_calls[0].tools if events.own_calls else []:
        trace.tool_definitions.append(attachments.resolve(tool))
    for call in trace.tool_calls:
        event = events.tools.get(call["id"]) if call["id"] is not None else None
        if event is not None:
            call["duration_ms"] = read_duration_ms(event)
            call["started_at"] = time(event.get("timestamp"), "events.timestamp")


def _add_end(trace: Trace, sample: dict[str, Any], chat: SampleMessages, attachments: Attachments) -> None:
    output = mapping(sample.get("output"), "output")
    choices = listing(output.get("choices"), "output.choices")
    choice = mapping(choices[0], "output.choices[0]") if choices else {}
    reason = text(choice.get("stop_reason"), "output.choices[0].stop_reason")
    trace.finish_reason = STOP_REASONS.get(reason or "", finish_reason(reason))
    message = mapping(attachments.resolve(choice.get("message")), "output.choices[0].message")
    trace.response = _choose_response(trace, message, chat)
    error, limit = mapping(sample.get("error"), "error"), mapping(sample.get("limit"), "limit")
    if error:
        trace.status = "error"
        trace.error = {"type": "sample_error", "message": text(error.get("message"), "error.message")}
    elif limit:
        kind = text(limit.get("type"), "limit.type") or "unknown"
        trace.status, trace.finish_reason = "incomplete", f"{kind}_limit"
        problem = f"the sample ran into its {kind} limit"
        trace.warnings.append({"code": "incomplete", "message": problem, "where": "limit"})


def _choose_response(trace: Trace, output: dict[str, Any], chat: SampleMessages) -> Response:
    """The response: the solver's output if it differs from the last message, else that message."""
    answers = [message for message in trace.messages if message["role"] == "assistant"]
    answer = output.get("content")
    if not answers or not isinstance(answer, str) or not answer:
        return trace.response
    if chat.last_id is None or output.get("id") != chat.last_id or answer == answers[-1]["content"]:
        return {**trace.response, "finish_reason": trace.finish_reason}
    return {
        "content": answer,
        "finish_reason": trace.finish_reason,
        "message_index": answers[-1]["index"],
    }


READER = Reader(build=build, identify=identify, split=split, unpack=unpack)
