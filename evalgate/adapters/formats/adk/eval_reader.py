"""Reads results of `adk eval`: the agent's run in each case of an eval set, and its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.adk import reader as adk
from evalgate.adapters.formats.adk.evalset_reader import get_field, read_conversation
from evalgate.adapters.formats.core.fields import amount, identifier, listing, mapping, number, required_text, text
from evalgate.adapters.formats.core.format import Identity, Reader, build_identity
from evalgate.adapters.formats.core.strict_json import decode, require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import to_milliseconds
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import TraceScore

STATUSES = {1: "passed", 2: "failed", 3: "not_evaluated"}
PER_INVOCATION = "eval_metric_result_per_invocation"


def split(document: Any) -> Sequence[Any]:
    """The cases; early versions wrote the whole document as text within JSON."""
    value = mapping(decode(document.encode()) if isinstance(document, str) else document, "")
    return listing(get_field(value, "eval_case_results"), "eval_case_results")


def build(record: Any) -> Trace:
    """Builds one run of a case from its session, else from its recorded invocations."""
    require_shallow(record)
    case = mapping(record, "")
    metric_results = [
        mapping(value, PER_INVOCATION) for value in listing(get_field(case, PER_INVOCATION), PER_INVOCATION)
    ]
    invocations = [get_field(value, "actual_invocation") for value in metric_results]
    actual = [mapping(value, "actual_invocation") for value in invocations if value is not None]
    session = mapping(get_field(case, "session_details"), "session_details")
    trace = adk.build(session) if session.get("events") else _trace_from_invocations(actual)
    trace.scenario_id = identifier(get_field(case, "eval_id"), "eval_id") or trace.scenario_id
    set_id = text(get_field(case, "eval_set_id"), "eval_set_id")
    if set_id:
        trace.metadata["eval_set_id"] = set_id
    trace.evaluations = _evaluations(case)
    seconds = [amount(invocation.get("duration"), "actual_invocation.duration") for invocation in actual]
    known = [one for one in seconds if one is not None]
    if known and len(known) == len(seconds):
        trace.latency = {"total_ms": to_milliseconds(sum(known)), "source": "recorded"}
        trace.warnings = [found for found in trace.warnings if found["code"] != "suspicious_latency"]
    return trace


def identify(record: Any) -> Identity:
    """The id of the case; several runs of a case are its trials, in order."""
    return build_identity(get_field(record, "eval_id"), None) if isinstance(record, dict) else (None, None)


def _trace_from_invocations(actual: list[dict[str, Any]]) -> Trace:
    conversation = read_conversation(actual, "actual_invocation")
    trace = Trace("", conversation.messages, conversation.calls, conversation.get_response())
    trace.agent = {"name": None, "framework": "google-adk"}
    trace.warnings = conversation.list_warnings()
    return trace


def _evaluations(case: dict[str, Any]) -> list[TraceScore]:
    found: list[TraceScore] = []
    key = "overall_eval_metric_results"
    for position, value in enumerate(listing(get_field(case, key), key)):
        path = f"{key}[{position}]"
        metric = mapping(value, path)
        status = get_field(metric, "eval_status")
        found.append(
            {
                "name": required_text(get_field(metric, "metric_name"), f"{path}.metric_name"),
                "score_value": number(metric.get("score"), f"{path}.score"),
                "score_label": STATUSES.get(status) if type(status) is int else None,
                "explanation": None,
                "source": None,
            }
        )
    return found


SESSIONS = ("session_details", "sessionDetails")
SHAPES = tuple(shape._replace(path=(key, *shape.path)) for shape in adk.SHAPES for key in SESSIONS)
READER = Reader(build=build, identify=identify, split=split, shapes=SHAPES)
