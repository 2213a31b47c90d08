"""Reads OpenAI chat: a list of messages, `{"messages": [...]}`, a raw completion, or lines of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import Conversation, get_instructions
from evalgate.adapters.formats.core.builder.evalgate_metadata import ORIGIN_KEYS, SCENARIO_KEY, TRIAL_KEY, set_origin
from evalgate.adapters.formats.core.builder.quick_scan import may_name_tools, require_no_calls, require_plain_names
from evalgate.adapters.formats.core.builder.run_end import warn_of_missing_results
from evalgate.adapters.formats.core.builder.side_fields import (
    add_side_fields,
    find_scenario_id,
    find_trial,
    identify_by_side_fields,
    read_cost_fields,
    read_latency_fields,
    read_tool_definitions,
)
from evalgate.adapters.formats.core.builder.trace_naming import build_trace_name
from evalgate.adapters.formats.core.fields import FieldError, count, identifier, listing, mapping, prefix_errors, text
from evalgate.adapters.formats.core.format import EACH, Reader, Shape
from evalgate.adapters.formats.core.not_plain import NotPlain
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, read_provider_usage, read_scores
from evalgate.adapters.formats.messages.known_fields import CHAT_FIELDS, PART_FIELDS
from evalgate.adapters.formats.messages.openai import add_message, read_conversation
from evalgate.adapters.formats.messages.openai_glance import glance_at_chat
from evalgate.adapters.formats.openai_chat import is_chat
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import TraceLocation

ID_DIGITS = 32
LATENCIES = frozenset({"latency_ms", "latency_seconds"})
COSTS = frozenset({"cost_usd", "cost"})
RARE = frozenset({"metadata", "tools", "scores"})
SAY_MORE = frozenset({SCENARIO_KEY, TRIAL_KEY, *ORIGIN_KEYS})
"""Metadata keys that set a field of the trace."""
READ_HERE = frozenset(
    {
        *("messages", "id", "model", "provider", "scenario_id", "trial", "finish_reason", "usage", "object", "created"),
        *LATENCIES | COSTS | {"metadata"},
    }
)
"""Other fields are searched for calls."""
USAGE_FIELDS = frozenset({"prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens"})
SAY_OTHERWISE = frozenset({"schema", "simulations", "choices"})
"""Fields of other formats and of raw completions."""


def read_at_once(document: Any, source: TraceLocation, below: str) -> Trace | None:
    """The trace; None if the full reader has to read it."""
    if type(document) is not dict or not SAY_OTHERWISE.isdisjoint(document):
        return None
    glance = glance_at_chat(document.get("messages"))
    if glance is None:
        return None
    trace = Trace.from_glance(glance, source)
    try:
        _add_ids(trace, document)
        _add_figures(trace, document)
        if not RARE.isdisjoint(document):
            _add_rare(trace, document)
        if may_hold_calls(document):
            require_no_calls(document, trace.called)
        require_plain_names(trace.called, trace.finish_reason)
        if trace.scenario_id is None:
            if not glance.opening:
                return None
            trace.scenario_id = build_trace_name(below, glance.opening)
    except (NotPlain, TraceError):
        return None
    return trace


def _add_ids(trace: Trace, document: dict[str, Any]) -> None:
    get = document.get
    trace_id, model, provider = get("id"), get("model"), get("provider")
    scenario_id, trial = get("scenario_id"), get("trial")
    for value in (trace_id, model, provider):
        if type(value) is not str and value is not None:
            raise NotPlain
    trace.trace_id = trace_id or (trace.source.sha256 or "")[:ID_DIGITS]
    trace.model, trace.provider = model or None, provider or None
    if scenario_id is not None:
        trace.scenario_id = identifier(scenario_id, "scenario_id")
    if trial is not None:
        trace.trial = count(trial, "trial")


def _add_figures(trace: Trace, document: dict[str, Any]) -> None:
    """Raises NotPlain where the full reader would add a warning."""
    reason, usage = document.get("finish_reason"), document.get("usage")
    if reason is not None:
        trace.finish_reason = finish_reason(text(reason, "finish_reason"))
        if trace.finish_reason == "length":
            raise NotPlain
    if usage is not None:
        trace.usage = read_provider_usage(usage, "usage")
    if not COSTS.isdisjoint(document):
        trace.cost, warnings = read_cost_fields(document, trace.usage)
        if warnings or trace.cost["usd"] == 0:
            raise NotPlain
    if not LATENCIES.isdisjoint(document):
        trace.latency = read_latency_fields(document)


def _add_rare(trace: Trace, document: dict[str, Any]) -> None:
    get = document.get
    metadata, listed, scores = get("metadata"), get("tools"), get("scores")
    if listed is not None:
        require_shallow(listed, 1)
        trace.tool_definitions = read_tool_definitions(listed)
    if scores is not None:
        trace.evaluations = read_scores(scores, "scores")
    if metadata is None:
        return
    if type(metadata) is not dict:
        raise NotPlain
    require_shallow(metadata, 1)
    trace.metadata = metadata
    if not SAY_MORE.isdisjoint(metadata):
        set_origin(trace)
        trace.scenario_id = identifier(find_scenario_id(document), "scenario_id")
        trace.trial = count(find_trial(document), "trial")


def may_hold_calls(document: dict[str, Any]) -> bool:
    """True if fields next to the messages have to be searched for calls."""
    get = document.get
    return (
        not READ_HERE.issuperset(document)
        or not USAGE_FIELDS.issuperset(get("usage") or ())
        or may_name_tools(get("metadata") or {})
    )


def split(document: Any) -> Sequence[Any]:
    """Returns the conversations of a document."""
    return [document] if is_chat(document) or not isinstance(document, list) else document


def build(record: Any) -> Trace:
    """Builds one trace from the messages and the fields next to them."""
    document = {"messages": record} if isinstance(record, list) else mapping(record, "")
    for key in ("metadata", "tools"):  # other fields keep only texts, numbers and arguments
        require_shallow(document.get(key), 1)
    conversation = read_conversation(listing(document.get("messages"), "messages"), "messages")
    finished = _add_choice(conversation, document)
    if not conversation.messages:
        raise FieldError("messages", "is missing or empty")
    trace = Trace(
        "",
        conversation.messages,
        conversation.calls,
        conversation.get_response(),
        finish_reason=finished,
        system_instructions=get_instructions(conversation.messages),
        usage=read_provider_usage(document.get("usage"), "usage"),
        warnings=[*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)],
    )
    add_side_fields(trace, document)
    return trace


def _add_choice(conversation: Conversation, document: dict[str, Any]) -> str | None:
    """Adds the answer of a raw completion after its request's messages; returns the finish reason."""
    finished = finish_reason(text(document.get("finish_reason"), "finish_reason"))
    choices = listing(document.get("choices"), "choices")
    if choices:
        choice = mapping(choices[0], "choices[0]")
        with prefix_errors("choices[0].message"):
            add_message(conversation, choice.get("message"))
        finished = finish_reason(text(choice.get("finish_reason"), "choices[0].finish_reason")) or finished
        conversation.messages[-1]["finish_reason"] = finished
    return finished


CHOICE_FIELDS = frozenset({"message", "logprobs", "content_filter_results", "provider_specific_fields", "token_ids"})
SHAPES = (
    Shape(("messages", EACH), CHAT_FIELDS),
    Shape(("messages", EACH, "content", EACH), PART_FIELDS),
    Shape(("choices", EACH), CHOICE_FIELDS),
    Shape(("choices", EACH, "message"), CHAT_FIELDS),
    Shape(("choices", EACH, "message", "content", EACH), PART_FIELDS),
)
READER = Reader(
    build=build,
    identify=identify_by_side_fields,
    split=split,
    at_once=read_at_once,
    shapes=SHAPES,
)
