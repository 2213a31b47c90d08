"""Builds a trace from its conversation, and sets what readers of most formats find: times, cost, warnings, ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.run import warn_of_missing_results
from evalgate.adapters.formats.core.fields import listing, mapping, milliseconds_between
from evalgate.adapters.formats.core.format import Identity, build_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import read_cost_usd
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evalgate.adapters.formats.core.builder.conversation import Conversation
    from evalgate.models.trace.trace import Latency


def open_record(record: Any, list_key: str = "") -> dict[str, Any]:
    """The record as an object; a list is the value of `list_key`, if there is one. Raises FieldError."""
    require_shallow(record)
    return {list_key: record} if list_key and isinstance(record, list) else mapping(record, "")


def build_trace(conversation: Conversation, trace_id: str | None = None, **fields: Any) -> Trace:
    """The trace of a conversation, with other fields of the trace; without `warnings` those of the conversation."""
    if "warnings" not in fields:
        fields["warnings"] = [*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)]
    return Trace(trace_id or "", conversation.messages, conversation.calls, conversation.get_response(), **fields)


def add_warning(trace: Trace, code: str, message: str, where: str | None = None) -> None:
    """Adds a warning; `where` is the field that it is about."""
    trace.warnings.append({"code": code, "message": message, "where": where})


def set_cost(trace: Trace, usd: Any, path: str) -> None:
    """Sets a recorded cost in US dollars; set the usage before, as 0 with tokens is unknown. Raises FieldError."""
    trace.cost, warnings = read_cost_usd(usd, trace.usage, path)
    trace.warnings += warnings


def set_times(trace: Trace) -> None:
    """Sets the times of the first and the last message that has one."""
    times = [message["timestamp"] for message in trace.messages if message["timestamp"] is not None]
    trace.started_at, trace.ended_at = (min(times), max(times)) if times else (None, None)


def measure_between(started: str | None, ended: str | None) -> Latency:
    """The latency from one time to the other; unknown if one is unknown."""
    total = milliseconds_between(started, ended)
    return {"total_ms": total, "source": "none" if total is None else "timestamps"}


def read_tags(value: Any, path: str) -> list[str]:
    """The texts in a list of tags."""
    return [tag for tag in listing(value, path) if isinstance(tag, str)]


def identify_by(scenario_key: str, trial_key: str = "", other_key: str = "") -> Callable[[Any], Identity]:
    """A function that reads scenario id (with its other spelling) and trial of a damaged record from these fields."""

    def identify(record: Any) -> Identity:
        if not isinstance(record, dict):
            return None, None
        return build_identity(record.get(scenario_key, record.get(other_key)), record.get(trial_key))

    return identify


def group_lines(lines: Iterable[Any], find_key: Callable[[Any], str | None]) -> list[list[Any]]:
    """Lines by key, in order; a line without one belongs to the line before it, those at the start to the first key."""
    groups: dict[str, list[Any]] = {}
    keyless: list[Any] = []
    group = keyless
    for line in lines:
        key = find_key(line)
        group = group if key is None else groups.setdefault(key, [])
        group.append(line)
    first = next(iter(groups.values()), None)
    if first is None:
        return [keyless] if keyless else []
    first[:0] = keyless
    return list(groups.values())


def join_loose(items: Iterable[Any], is_loose: Callable[[Any], bool], join: Callable[[list[Any]], Any]) -> list[Any]:
    """The records among items; loose items, which are parts of one run, are joined where the first of them was."""
    records: list[Any] = []
    loose: list[Any] = []
    for item in items:
        if not is_loose(item):
            records.append(item)
            continue
        if not loose:
            records.append(join(loose))
        loose.append(item)
    return records
