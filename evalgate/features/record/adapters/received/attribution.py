"""Finds the trial that received spans belong to, and writes it into them.

The first that names a scenario counts: the token of the request's address, a span of the trace, its resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.side_fields import parse_digits
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.spans.encodings.values import decode_value, parse_id
from evalgate.adapters.formats.spans.span_records import SCENARIO_KEYS
from evalgate.models.trace.trace import MAX_ID_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.features.record.models.exchange import TrialId
    from evalgate.features.record.models.run import ReceivedRecord

CONVERSATION = "gen_ai.conversation.id"
SCENARIO, TRIAL, VARIANT = SCENARIO_KEYS[0], "evalgate.trial", "evalgate.variant"
OWN_KEYS = frozenset({*SCENARIO_KEYS, TRIAL, VARIANT})


def group_by_trial(records: Iterable[ReceivedRecord], trial: TrialId) -> dict[TrialId, list[ReceivedRecord]]:
    """The records of each trial, of a request whose address names `trial`; all spans of a trace share one."""
    traces: dict[str | None, list[ReceivedRecord]] = {}
    for record in records:
        traces.setdefault(record.trace_id, []).append(record)
    found: dict[TrialId, list[ReceivedRecord]] = {}
    for trace_id, trace in traces.items():
        for group in [trace] if trace_id else [[one] for one in trace]:
            found.setdefault(_find_trial(group, trial), []).extend(group)
    return found


def _find_trial(group: Sequence[ReceivedRecord], trial: TrialId) -> TrialId:
    if trial.scenario is not None:
        return trial
    for attributes in (*(one.record.get("attributes") for one in group), *_list_resources(group)):
        named = read_attributes(attributes, OWN_KEYS)
        scenario = next((named[key] for key in SCENARIO_KEYS if _is_name(named.get(key))), None)
        if scenario is None:
            continue
        number = parse_digits(named.get(TRIAL))
        variant = named.get(VARIANT)
        return trial._replace(
            scenario=scenario,
            trial=number if type(number) is int and number >= 0 else trial.trial,
            variant=variant if _is_name(variant) else trial.variant,
        )
    return trial


def _list_resources(group: Sequence[ReceivedRecord]) -> Iterator[Any]:
    """The attributes of each resource, once."""
    resources = {id(one.resource): one.resource.get("attributes") for one in group}
    yield from resources.values()


def _is_name(value: Any) -> bool:
    return type(value) is str and 0 < len(value) <= MAX_ID_LENGTH


def read_attributes(attributes: Any, keys: frozenset[str]) -> dict[str, Any]:
    """The values of these keys in a list of attributes; what can't be read is left out."""
    found: dict[str, Any] = {}
    for pair in attributes if type(attributes) is list else ():
        key = pair.get("key") if type(pair) is dict else None
        if type(key) is str and key in keys:
            try:
                found.setdefault(key, decode_value(pair.get("value"), key))
            except FieldError:
                continue
    return found


def build_documents(
    records: Sequence[ReceivedRecord], trial: TrialId, origin: Mapping[str, str | None]
) -> Iterator[dict[str, Any]]:
    """One document of OTLP's JSON a record, which names the trial; `origin` is added to each resource.

    Model calls without a span around them are traces of their own. The reader joins traces of one conversation: root
    spans of traces that name none get one of the trial.
    """
    ids = {_span_id(one) for one in records if not one.is_log}
    named = {
        one.trace_id for one in records if read_attributes(one.record.get("attributes"), frozenset({CONVERSATION}))
    }
    suite, scenario, variant, number = (str("" if part is None else part) for part in trial)
    conversation = f"evalgate:{suite}:{scenario}:{variant}:{number}"
    facts = {key: value for key, value in origin.items() if value}
    if trial.scenario is not None:
        facts |= {SCENARIO: scenario, TRIAL: number, **({VARIANT: variant} if variant else {})}
    for one in records:
        record = {**one.record, "attributes": _without_own_keys(one.record.get("attributes"), trial)}
        if one.trace_id is not None:
            record = {key: value for key, value in record.items() if key != "trace_id"} | {"traceId": one.trace_id}
        is_root = not one.is_log and _parent_id(one) not in ids
        if is_root and one.trace_id not in named and type(record["attributes"]) is list:
            record["attributes"] = [*record["attributes"], _attribute(CONVERSATION, conversation)]
        yield _wrap(one, record, facts, trial)


def _without_own_keys(attributes: Any, trial: TrialId) -> Any:
    """The attributes without those that name another trial than the address does."""
    if attributes is None:
        return []
    if type(attributes) is not list or trial.scenario is None:
        return attributes
    return [pair for pair in attributes if type(pair) is not dict or pair.get("key") not in OWN_KEYS]


def _wrap(one: ReceivedRecord, record: dict[str, Any], facts: Mapping[str, str], trial: TrialId) -> dict[str, Any]:
    attributes = _without_own_keys(one.resource.get("attributes"), trial)
    if type(attributes) is list:
        known = read_attributes(attributes, frozenset(facts))
        attributes = [*attributes, *(_attribute(key, value) for key, value in facts.items() if key not in known)]
    resource = {**one.resource, "attributes": attributes}
    if one.is_log:
        return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": one.scope, "logRecords": [record]}]}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": one.scope, "spans": [record]}]}]}


def _attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def _span_id(one: ReceivedRecord) -> str | None:
    return _read_id(one.record.get("spanId", one.record.get("span_id")))


def _parent_id(one: ReceivedRecord) -> str | None:
    return _read_id(one.record.get("parentSpanId", one.record.get("parent_span_id")))


def _read_id(value: Any) -> str | None:
    try:
        return parse_id(value, "")
    except FieldError:
        return None
