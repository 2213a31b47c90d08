"""Reads Inspect logs, as JSON or as `.eval` archives: one trace per sample and epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.conversation import build_call, get_instructions, mark_failed
from evalgate.adapters.formats.core.builder.evidence_gaps import find_unknown, note_unknown, note_unread_calls
from evalgate.adapters.formats.core.builder.run import (
    add_failed_call,
    add_warning,
    build_model_error,
    build_trace,
    read_tags,
)
from evalgate.adapters.formats.core.builder.run_end import mark_stopped
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    count,
    first_entry,
    identifier,
    listing,
    mapping,
    prefix_errors,
    read_at,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity, words
from evalgate.adapters.formats.core.strict_json import encode_json, require_shallow
from evalgate.adapters.formats.core.usage import build_score, finish_reason, split_provider_and_model
from evalgate.adapters.formats.inspect_ai.archive import Archive, PackedSample, unpack
from evalgate.adapters.formats.inspect_ai.events import InspectEvents, llm_calls, measure, read_duration_ms
from evalgate.adapters.formats.inspect_ai.sample_messages import Attachments, SampleMessages
from evalgate.adapters.formats.messages.known_fields import PART_FIELDS
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.trace.trace import ModelError, Response, ToolCall, Trace, TraceScore

UNITS = {"token": "tokens", "message": "messages", "turn": "turns"}
"""What a limit of this `type` counts; a sample's `error` is a failure of the run."""


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
    conversation.calls = merge_event_calls(conversation.calls, attachments.resolve(events.tool_runs))
    trace = build_trace(
        conversation,
        text(sample.get("uuid"), "uuid"),
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
        message = f"{attachments.missing} referenced attachments are not in the log"
        add_warning(trace, "content_not_captured", message, "messages")
    note_unknown(trace, find_unknown(sample, SHAPES))
    searched = {**sample, "events": events.of_agent, "transcript": {**transcript, "events": None}}
    note_unread_calls(trace, searched, WITHOUT_CALLS)
    if events.failure is not None:
        add_failed_call(trace, _read_model_error(events.failure.error))
    return trace


def _read_model_error(value: Any) -> ModelError:
    """The error of a model call: the text of an exception, which starts with its name, or an object."""
    known = value if isinstance(value, dict) else {"message": value}
    found = text(known.get("message"), "events.error") or ""
    if known.get("type") is not None:
        return build_model_error(text(known["type"], "events.error.type"), found)
    name, bracket, _ = found.partition("(")
    return build_model_error(name if bracket and name.isidentifier() else None, found)


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
    trace.tags = read_tags(settings.get("tags"), "eval.tags")
    for tool in events.own_calls[0].tools if events.own_calls else []:
        trace.tool_definitions.append(attachments.resolve(tool))
    for call in trace.tool_calls:
        event = events.tools.get(call["id"]) if call["id"] is not None else None
        if event is not None:
            call["duration_ms"] = read_duration_ms(event)
            call["started_at"] = time(event.get("timestamp"), "events.timestamp")


def _add_end(trace: Trace, sample: dict[str, Any], chat: SampleMessages, attachments: Attachments) -> None:
    choice = first_entry(read_at(sample, "output.choices", listing), "output.choices")
    reason = text(choice.get("stop_reason"), "output.choices[0].stop_reason")
    trace.finish_reason = finish_reason(reason)
    message = mapping(attachments.resolve(choice.get("message")), "output.choices[0].message")
    trace.response = _choose_response(trace, message, chat)
    error, limit = mapping(sample.get("error"), "error"), mapping(sample.get("limit"), "limit")
    if error:
        trace.status = "error"
        trace.error = {"type": "sample_error", "message": text(error.get("message"), "error.message")}
    elif limit:
        kind = text(limit.get("type"), "limit.type") or "unknown"
        trace.finish_reason = f"{kind}_limit"
        mark_stopped(trace, f"the limit of {UNITS.get(kind, kind)}")


def _choose_response(trace: Trace, output: dict[str, Any], chat: SampleMessages) -> Response:
    """The response: the solver's output if it differs from the last message, else that message."""
    answers = [message for message in trace.messages if message["role"] == "assistant"]
    answer = output.get("content")
    if not answers or not isinstance(answer, str) or not answer:
        return trace.response
    if chat.last_id is None or output.get("id") != chat.last_id or answer == answers[-1]["content"]:
        return {**trace.response, "finish_reason": trace.finish_reason}
    return {"content": answer, "finish_reason": trace.finish_reason, "message_index": answers[-1]["index"]}


MESSAGE_FIELDS = frozenset({"content", "tool_calls", "error", "metadata", "tool_call_id", "function"})
EVENTS = words("""
    model tool state store span_begin span_end step score score_edit sample_init sample_limit sandbox info input
    approval logger error subtask compaction branch checkpoint anchor interrupt
""")
SHAPES = (
    Shape(("messages", EACH), MESSAGE_FIELDS),
    Shape(("messages", EACH, "content", EACH), PART_FIELDS | {"internal", "tool_type", "context"}),
    Shape(("events", EACH), None, EVENTS, "event"),
    Shape(("transcript", "events", EACH), None, EVENTS, "event"),
)
WITHOUT_CALLS = frozenset({"eval", "plan", "results", "reductions", "scores", "score"})
READER = Reader(build=build, identify=identify, shapes=(), split=split, unpack=unpack, without_calls=WITHOUT_CALLS)


GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partial, incorrect, no answer: the numbers that Inspect's own metrics use for them."""


def read_scores(sample: dict[str, Any]) -> list[TraceScore]:
    """One score per scorer, or per key if a scorer gives several."""
    scores = mapping(sample.get("scores"), "scores")
    if not scores and sample.get("score") is not None:
        scores = {"score": sample["score"]}
    found: list[TraceScore] = []
    for name, recorded in scores.items():
        with prefix_errors("scores", name):
            found += _read_score(name, mapping(recorded, ""))
    return found


def _read_score(name: str, score: dict[str, Any]) -> Iterator[TraceScore]:
    value, explanation = score.get("value"), text(score.get("explanation"), "explanation")
    grades = dict(enumerate(value)) if isinstance(value, list) else value
    several = {f"{name}.{key}": grade for key, grade in grades.items()} if isinstance(grades, dict) else {name: value}
    for each, grade in several.items():
        label = grade if isinstance(grade, str) else None
        is_number = not isinstance(grade, str | list | dict | bool)
        points = grade if is_number else float(grade) if isinstance(grade, bool) else GRADES.get(label or "")
        yield {**build_score(each, points, "value"), "score_label": label, "explanation": explanation}


def merge_event_calls(calls: list[ToolCall], events: Iterable[dict[str, Any]]) -> list[ToolCall]:
    """The calls of the messages, each followed by calls that ran before the next and are in no message."""
    positions: dict[tuple[str | None, str | None], int] = {}
    for index, call in enumerate(calls):
        positions[call["id"], call["name"]] = positions[call["id"], None] = index
    after: dict[int, list[ToolCall]] = {}
    last = -1
    for event in events:
        position = positions.get((event["id"], text(event.get("function"), "events.function")))
        if position is None:
            after.setdefault(last, []).append(_build_call(event, calls[last] if last >= 0 else None))
        else:
            last = max(last, position)
    found = after.get(-1, [])
    for index, call in enumerate(calls):
        found += [call, *after.get(index, [])]
    for index, call in enumerate(found):
        call["index"] = index
    return found


def _build_call(event: dict[str, Any], preceding: ToolCall | None) -> ToolCall:
    turn, step = (1, 1) if preceding is None else (preceding["turn"], preceding["step"])
    name = required_text(event.get("function"), "events.function")
    call = build_call(name, event.get("arguments"), event["id"], turn, step)
    call["started_at"] = time(event.get("timestamp"), "events.timestamp")
    result = event.get("result")
    if result is not None:
        shown = read_content(result, "events.result")[0] if isinstance(result, str | list) else encode_json(result)
        call["result"], call["result_text"], call["status"] = result, shown, "ok"
    if event.get("error"):
        kind, message = (read_at(event, f"error.{key}", text) for key in ("type", "message"))
        mark_failed(call)
        call["error"] = {"type": kind, "message": message or call["result_text"]}
    return call
