"""Reads a plain native line into a finished trace; nearly all lines of a large file are plain.

Gives the same trace as `trace_builder.read_record`, in a third of the time. Anything that is not plain, and
so every error and most warnings, is left to `read_record`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evalgate_metadata import ORIGIN_KEYS, SCENARIO_KEY
from evalgate.adapters.formats.core.builder.quick_scan import may_name_tools, require_no_calls, require_plain_names
from evalgate.adapters.formats.core.builder.trace_naming import build_trace_name
from evalgate.adapters.formats.core.fields import LARGEST_COUNT, LARGEST_NUMBER, amount
from evalgate.adapters.formats.core.not_plain import NotPlain
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, read_scores, to_milliseconds, total_tokens
from evalgate.adapters.formats.native.glance import glance_at
from evalgate.adapters.formats.native.known_fields import FIELDS, KNOWN, UNREADABLE
from evalgate.adapters.formats.native.parts import TOKENS
from evalgate.adapters.formats.native.spellings import set_latency_from_times
from evalgate.adapters.formats.native.unknown_fields import UnknownFields
from evalgate.errors import TraceError
from evalgate.models.trace.trace import MAX_ID_LENGTH, SCHEMA, Trace, unknown_usage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import TraceLocation, Usage

ID_DIGITS = 32
NO_USAGE = unknown_usage()
STANDARD_REASONS = frozenset({"stop", "tool_calls", "content_filter", None})
USUAL = frozenset(
    {
        *("schema", "trace_id", "scenario_id", "trial", "model", "provider", "messages", "usage", "cost_usd"),
        *("latency_seconds", "finish_reason", "metadata"),
    }
)


AS_NAMED = frozenset(
    {
        *("conversation_id", "name", "system_instructions", "commit", "agent_hash", "agent", "status"),
        *("error", "started_at", "ended_at", "tool_definitions", "tags"),
    }
)
"""Fields that few traces have and that become the trace's attribute of the same name."""
SAY_MORE = frozenset({SCENARIO_KEY, *ORIGIN_KEYS})
"""Metadata keys that set a field of the trace."""


def read_at_once(document: Any, source: TraceLocation, below: str) -> Trace | None:
    """The trace; None if the careful reader has to read it."""
    if type(document) is not dict or document.get("schema") != SCHEMA:
        return None
    glance = glance_at(document)
    if glance is None:
        return None
    trace = Trace.from_glance(glance, source)
    try:
        _add_usual(trace, document)
        if not USUAL.issuperset(document):
            _add_rest(trace, document)
        if trace.scenario_id is None:
            if not glance.opening:
                return None
            trace.scenario_id = build_trace_name(below, glance.opening)
    except (NotPlain, TraceError):
        return None
    return trace


# As in `glance._look_at`, checks are inlined for speed: nearly every trace has all of these fields.
def _add_usual(trace: Trace, document: dict[str, Any]) -> None:  # noqa: C901, PLR0912
    get = document.get
    scenario_id, trial, reason = get("scenario_id"), get("trial"), get("finish_reason")
    trace_id, model, provider = get("trace_id"), get("model"), get("provider")
    if scenario_id is not None and (type(scenario_id) is not str or not 0 < len(scenario_id) <= MAX_ID_LENGTH):
        raise NotPlain
    if trial is not None and (type(trial) is not int or not 0 <= trial <= LARGEST_COUNT):
        raise NotPlain
    for field in (trace_id, model, provider, reason):
        if type(field) is not str and field is not None:
            raise NotPlain
    trace.scenario_id, trace.trial, trace.model, trace.provider = scenario_id, trial, model, provider
    trace.trace_id = trace_id or (trace.source.sha256 or "")[:ID_DIGITS]
    trace.finish_reason = reason if reason in STANDARD_REASONS else _finish_reason(reason)
    require_plain_names(trace.called, trace.finish_reason)
    usage, usd, seconds, metadata = get("usage"), get("cost_usd"), get("latency_seconds"), get("metadata")
    if usage is not None:
        trace.usage = _usage(usage)
    if usd is not None:
        if type(usd) is not float or not 0 < usd <= LARGEST_NUMBER:
            raise NotPlain
        trace.cost = {"usd": usd, "source": "recorded"}
    if seconds is not None:
        if (type(seconds) is not float and type(seconds) is not int) or not 0 <= seconds <= LARGEST_NUMBER:
            raise NotPlain
        trace.latency = {"total_ms": to_milliseconds(float(seconds)), "source": "recorded"}
    if metadata is not None:
        if type(metadata) is not dict or not SAY_MORE.isdisjoint(metadata):
            raise NotPlain
        for value in metadata.values():
            if type(value) is not str and (type(value) is dict or type(value) is list):
                require_shallow(metadata, 1)
                break
        if may_name_tools(metadata):
            require_no_calls(document, trace.called)
        trace.metadata = metadata


def _finish_reason(recorded: str | None) -> str | None:
    """Refuses a cut-off response: the careful reader adds the warning."""
    found = finish_reason(recorded)
    if found == "length":
        raise NotPlain
    return found


def _usage(recorded: Any) -> Usage:
    if type(recorded) is not dict:
        raise NotPlain
    for name, count in recorded.items():
        if type(count) is not int or not 0 <= count <= LARGEST_COUNT or name not in TOKENS:
            raise NotPlain
    known: Any = {**NO_USAGE, **recorded, "source": "recorded_total"}
    usage: Usage = known
    if usage["total_tokens"] is None:
        usage["total_tokens"] = total_tokens(usage)
    return usage


def _add_rest(trace: Trace, document: dict[str, Any]) -> None:
    """Sets rare fields and notes unknown ones; refuses incomplete runs, which need a warning."""
    require_no_calls(document, trace.called)
    unknown: UnknownFields | None = None
    for name, value in document.items():
        if name in USUAL:
            continue
        if name in KNOWN:
            if value is not None:
                _add_known(trace, name, value)
            continue
        if name in UNREADABLE:
            raise NotPlain  # an error, unless it is empty
        require_shallow(value, 1)
        unknown = unknown or UnknownFields()
        unknown.add("", name, KNOWN)
    if unknown is not None:
        trace.warnings = unknown.list_warnings()
    trace.commit, trace.agent_hash = trace.commit or None, trace.agent_hash or None
    if trace.status == "incomplete":
        raise NotPlain
    if trace.latency["total_ms"] is None:
        set_latency_from_times(trace)


def _add_known(trace: Trace, name: str, value: Any) -> None:
    if name in AS_NAMED:
        setattr(trace, name, FIELDS[name](value, name))
    elif name == "scores":
        trace.evaluations = read_scores(value, name)
    elif name == "duration_ms" and trace.latency["total_ms"] is None:
        trace.latency = {"total_ms": amount(value, name), "source": "recorded"}
    else:
        raise NotPlain
