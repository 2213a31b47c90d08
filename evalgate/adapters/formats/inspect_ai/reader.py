"""Reads Inspect logs, as JSON or as `.eval` archives: one trace per sample and epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.build.conversation import first_instructions
from evalgate.adapters.formats.core.fields import count, identifier, listing, mapping, text, time
from evalgate.adapters.formats.core.format import Identity, Reader, identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, provider_and_model
from evalgate.adapters.formats.inspect_ai.archive import Archive, Member, unpack
from evalgate.adapters.formats.inspect_ai.event_calls import with_others
from evalgate.adapters.formats.inspect_ai.events import InspectEvents, duration_of
from evalgate.adapters.formats.inspect_ai.sample_messages import Attachments, SampleMessages
from evalgate.adapters.formats.inspect_ai.scores import recorded_scores
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
    member: Member | None = None


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
    told = SampleMessages(listing(sample.get("messages"), "messages"), attachments)
    conversation = told.conversation
    trace = Trace(
        text(sample.get("uuid"), "uuid") or "",
        conversation.messages,
        with_others(conversation.calls, attachments.resolved(events.ran)),
        conversation.response(),
        scenario_id=identifier(sample.get("id"), "id"),
        trial=count(sample.get("epoch"), "epoch"),
        agent={"name": text(settings.get("solver"), "eval.solver"), "framework": "inspect"},
        started_at=events.first or time(sample.get("started_at"), "started_at"),
        ended_at=events.last or time(sample.get("completed_at"), "completed_at"),
        system_instructions=first_instructions(conversation.messages),
        llm_calls=llm_calls(events, told),
        evaluations=recorded_scores(sample),
        warnings=conversation.warnings(),
    )
    trace.provider, trace.model = provider_and_model(text(settings.get("model"), "eval.model"))
    _describe(trace, sample, settings, events, attachments)
    _end(trace, sample, told, attachments)
    measure(trace, sample, events, text(settings.get("model"), "eval.model"))
    if attachments.missing:
        said = f"{attachments.missing} attachments that are referred to are not in the log"
        trace.warnings.append({"code": "content_not_captured", "message": said, "where": "messages"})
    return trace


def identify(record: Sample) -> Identity:
    """Sample id and epoch."""
    if record.member is not None:
        return identity(record.member.id, record.member.epoch)
    sample = record.value
    return identity(sample.get("id"), sample.get("epoch")) if isinstance(sample, dict) else (None, None)


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
    for tool in events.own[0].tools if events.own else []:
        trace.tool_definitions.append(attachments.resolved(tool))
    for call in trace.tool_calls:
        event = events.tools.get(call["id"]) if call["id"] is not None else None
        if event is not None:
            call["duration_ms"] = duration_of(event)
            call["started_at"] = time(event.get("timestamp"), "events.timestamp")


def _end(trace: Trace, sample: dict[str, Any], told: SampleMessages, attachments: Attachments) -> None:
    output = mapping(sample.get("output"), "output")
    choices = listing(output.get("choices"), "output.choices")
    choice = mapping(choices[0], "output.choices[0]") if choices else {}
    reason = text(choice.get("stop_reason"), "output.choices[0].stop_reason")
    trace.finish_reason = STOP_REASONS.get(reason or "", finish_reason(reason))
    message = mapping(attachments.resolved(choice.get("message")), "output.choices[0].message")
    trace.response = _response(trace, message, told)
    error, limit = mapping(sample.get("error"), "error"), mapping(sample.get("limit"), "limit")
    if error:
        trace.status = "error"
        trace.error = {"type": "sample_error", "message": text(error.get("message"), "error.message")}
    elif limit:
        kind = text(limit.get("type"), "limit.type") or "unknown"
        trace.status, trace.finish_reason = "incomplete", f"{kind}_limit"
        said = f"the sample ran into its {kind} limit"
        trace.warnings.append({"code": "incomplete", "message": said, "where": "limit"})


def _response(trace: Trace, output: dict[str, Any], told: SampleMessages) -> Response:
    """The response: the solver's output if it differs from the last message, else that message."""
    spoken = [message for message in trace.messages if message["role"] == "assistant"]
    answer = output.get("content")
    if not spoken or not isinstance(answer, str) or not answer:
        return trace.response
    if told.last_id is None or output.get("id") != told.last_id or answer == spoken[-1]["content"]:
        return {**trace.response, "finish_reason": trace.finish_reason}
    return {
        "content": answer,
        "finish_reason": trace.finish_reason,
        "message_index": spoken[-1]["index"],
    }


READER = Reader(build=build, identify=identify, split=split, unpack=unpack)
