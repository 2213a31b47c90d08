"""Reads Google ADK: sessions as its services store them, and events that a run returns or streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.adk import is_adk_event
from evalgate.adapters.formats.adk.events import AdkRun, normalize_keys
from evalgate.adapters.formats.core.builder.evalgate_metadata import identify_by_metadata, set_scenario_and_trial
from evalgate.adapters.formats.core.builder.llm_calls import add_failed_call, build_model_error
from evalgate.adapters.formats.core.fields import FieldError, do_each, listing, mapping, text
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.totals import sum_call_usages
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason
from evalgate.adapters.formats.messages.known_fields import GEMINI_PART_FIELDS
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTH = "length"


def split(documents: list[Any]) -> Sequence[Any]:
    """Every session of the file; all events outside of a session form one."""
    records: list[Any] = []
    loose: list[Any] = []
    for document in documents:
        for item in document if isinstance(document, list) else [document]:
            if not is_adk_event(item):
                records.append(item)
                continue
            if not loose:
                records.append({"events": loose})
            loose.append(item)
    return records


def build(record: Any) -> Trace:
    """Builds one session: a turn for each message of the user, agents' messages under their names."""
    require_shallow(record)
    session = normalize_keys(mapping(record, ""))
    events = listing(session.get("events"), "events")
    if not events:
        raise FieldError("events", "is missing or empty: nothing happened in this session")
    run = AdkRun()
    do_each(events, "events", run.add)
    conversation = run.conversation
    session_id = text(session.get("id"), "id") or None
    trace = Trace(
        session_id or "",
        conversation.messages,
        conversation.calls,
        conversation.get_response(),
        conversation_id=session_id,
        agent={"name": text(session.get("app_name"), "app_name") or run.agent, "framework": "google-adk"},
        model=run.model or _logged_model(session),
        started_at=run.started_at,
        ended_at=run.ended_at,
        llm_calls=run.llm_calls,
        warnings=conversation.list_warnings() + run.warnings,
    )
    set_scenario_and_trial(trace, mapping(session.get("state"), "state"))
    _set_status(trace, run)
    _add_totals(trace, run)
    if run.error is not None and run.has_failed_call:
        add_failed_call(trace, build_model_error(run.error["type"], run.error["message"]))
    return trace


def identify(record: Any) -> Identity:
    """Scenario and trial, if the session's state names them."""
    return identify_by_metadata(record.get("state")) if isinstance(record, dict) else (None, None)


def _logged_model(session: dict[str, Any]) -> str | None:
    """The model of the first logged request, which early sessions keep outside of the events."""
    logs = session.get("event_logs")
    first = logs[0] if isinstance(logs, list) and logs else None
    request = first.get("model_request") if isinstance(first, dict) else None
    model = request.get("model") if isinstance(request, dict) else None
    return model if isinstance(model, str) and model else None


def _set_status(trace: Trace, run: AdkRun) -> None:
    trace.finish_reason = trace.response["finish_reason"]
    if run.error is not None:
        trace.error = run.error
        trace.finish_reason = finish_reason(run.error["type"])
        trace.status = "incomplete" if trace.finish_reason == LENGTH else "error"
    elif run.is_waiting():
        trace.status = "incomplete"
        message = "a long-running tool has not returned its result yet"
        trace.warnings.append({"code": "incomplete", "message": message, "where": "events"})


def _add_totals(trace: Trace, run: AdkRun) -> None:
    trace.usage, warnings = sum_call_usages(run.llm_calls, run.unmetered)
    trace.warnings += warnings
    total = run.working_ms()
    if run.is_stamped_early:
        message = "answers have the time at which the model was called: the duration of the last call is not recorded"
        trace.warnings.append({"code": "suspicious_latency", "message": message, "where": "events"})
    elif total:
        trace.latency = {"total_ms": total, "source": "timestamps"}


EVENT_FIELDS = frozenset(
    {
        *("content", "usage_metadata", "usageMetadata", "actions", "options", "state", "context", "state_delta"),
        *("grounding_metadata", "groundingMetadata", "citation_metadata", "citationMetadata"),
        *("custom_metadata", "customMetadata", "long_running_tool_ids", "longRunningToolIds"),
        *("logprobs_result", "logprobsResult", "cache_metadata", "cacheMetadata", "input_transcription"),
        *("inputTranscription", "output_transcription", "outputTranscription", "live_session_resumption_update"),
        *("liveSessionResumptionUpdate", "node_info", "nodeInfo", "output"),
    }
)
SHAPES = (
    Shape(("events", EACH), EVENT_FIELDS),
    Shape(("events", EACH, "content"), frozenset({"parts"})),
    Shape(("events", EACH, "content", "parts", EACH), GEMINI_PART_FIELDS),
)
"""Of the sessions that an agent's run stores."""
READER = Reader(build=build, identify=identify, split=split, shapes=SHAPES)
