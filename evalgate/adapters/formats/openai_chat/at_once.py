"""Reads a plain line of OpenAI messages into a finished trace in one pass, as `native.at_once` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.side_fields import (
    SCENARIO_KEY,
    TRIAL_KEY,
    find_scenario_id,
    find_trial,
    read_cost_fields,
    read_latency_fields,
    read_tool_definitions,
)
from evalgate.adapters.formats.core.build.trace_naming import build_trace_name
from evalgate.adapters.formats.core.build.trace_origin import ORIGIN_KEYS, set_origin
from evalgate.adapters.formats.core.fields import count, identifier, text
from evalgate.adapters.formats.core.not_plain import NotPlain
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, read_provider_usage, read_scores
from evalgate.adapters.formats.messages.openai_glance import glance_at_chat
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from evalgate.models.trace.trace import TraceLocation

ID_DIGITS = 32
LATENCIES = frozenset({"latency_ms", "latency_seconds"})
COSTS = frozenset({"cost_usd", "cost"})
RARE = frozenset({"metadata", "tools", "scores"})
SAY_MORE = frozenset({SCENARIO_KEY, TRIAL_KEY, *ORIGIN_KEYS})
"""Metadata keys that set a field of the trace."""
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
