"""Judges one trace under one scenario, and builds the trial of a damaged record."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.application.evaluation.scenario_matcher import UndecidedMatchError
from evalgate.application.evaluation.trace_warnings import format_location
from evalgate.evaluators.core.evaluator import describe_missing, find_missing
from evalgate.evaluators.core.queries import build_getter, query_evidence
from evalgate.measures.jmespath.query import QueryFailedError
from evalgate.measures.values.compact import hash_stable_text
from evalgate.measures.values.json_stream import encode_json
from evalgate.measures.values.json_values import truncate
from evalgate.models.run.run import SharedOutcome, TraceRef, TrialResult
from evalgate.models.trace.trace import MAX_ID_LENGTH, DamagedTrace, Trace, TraceLocation
from evalgate.scoring.outage import find_outage
from evalgate.scoring.scenario import score_trial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.application.evaluation.scenario_matcher import ScenarioClaim, ScenarioMatcher
    from evalgate.application.evaluation.trial_result_cache import TrialResultCache
    from evalgate.measures.jmespath.query import Query
    from evalgate.models.run.golden import GoldenTrial
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.scoring.golden.rules import GoldenRules
    from evalgate.suite.models import Scenario, Suite


MAX_MODEL_NAME = 200
DIGEST_BITS = 52
"""Few enough for JSON, and enough to tell the trials of one scenario apart."""
_SPOKEN = itemgetter("role", "content")
_CALLED = itemgetter("name", "arguments")
_ANSWERED = itemgetter("name", "arguments", "result_text")


def resolve_scenario_id(suite: Suite, record: TraceRecord) -> tuple[TraceRecord, str | None]:
    """The record with the scenario id that the suite assigns to it; damaged if that fails."""
    if suite.scenario_from is None:
        return record, record.scenario_id
    scenario_id, problem = _scenario_id(suite.scenario_from, record)
    if problem is not None:
        return _damage_trace(record, problem), scenario_id
    return record, scenario_id


def _scenario_id(expression: Query, record: TraceRecord) -> tuple[str | None, str | None]:
    """The record's scenario id according to `scenario_from`, and what is wrong with it."""
    if isinstance(record, DamagedTrace):
        return None, None  # an expression needs a readable trace
    if record.gaps and (missing := find_missing(record, query_evidence(expression))):
        return None, f"scenario_from: {describe_missing(record, missing)}"
    try:
        found = _look_for(expression)(record)
    except QueryFailedError as error:
        return None, f"scenario_from: {error}"
    if found is None:
        return record.scenario_id, None
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str) or not 0 < len(found) <= MAX_ID_LENGTH:
        return None, f"scenario_from finds no text of 1 to {MAX_ID_LENGTH} characters in this trace"
    record.scenario_id = found
    return found, None


_look_for = lru_cache(maxsize=256)(build_getter)


def _damage_trace(record: TraceRecord, reason: str) -> DamagedTrace:
    """An unreadable record in place of one that can't be assigned to a scenario."""
    return DamagedTrace(reason, record.source, _fallback_id(record.source))


def require_match(matcher: ScenarioMatcher, record: TraceRecord, scenario_id: str | None) -> TraceRecord:
    """The record, damaged if a `where` needs evidence that it lacks: it could belong to another scenario."""
    if not isinstance(record, Trace) or not record.gaps:
        return record
    try:
        matcher.candidates(record, scenario_id)
    except UndecidedMatchError as error:
        return _damage_trace(record, str(error))
    return record


def damaged_trial(record: DamagedTrace) -> TrialResult:
    """The trial of a record that can't be read."""
    source = record.source
    return TrialResult(
        trial=record.trial or 0,
        trace=TraceRef(None, source.path, source.format, source.sha256, source.line, source.record),
        status="error",
        score=0.0,
        assertions=[],
        reason=f"{format_location(source)}: {record.reason}",
    )


def judge_trace(trace: Trace, claim: ScenarioClaim, cache: TrialResultCache) -> TrialResult:
    """Judges one trace under one scenario; a run that an outage ended is not measured."""
    scenario, outage = claim.scenario, find_outage(trace)
    found = _score(trace, scenario, cache) if outage is None else SharedOutcome([], "not_measured", None)
    latency_ms, usage = trace.latency["total_ms"], trace.usage
    return TrialResult(
        0,
        ref_of(trace),
        found.status,
        found.score,
        found.assertions,
        trace.cost["usd"],
        None if latency_ms is None else latency_ms / 1000,
        usage["total_tokens"],
        trace.called,
        outage,
        [],
        usage["input_tokens"],
        usage["output_tokens"],
        trace.pricing,
        None if scenario.golden is None or outage is not None else _judge_golden(trace, scenario.golden),
        found,
    )


def _score(trace: Trace, scenario: Scenario, cache: TrialResultCache) -> SharedOutcome:
    """The outcomes of a scenario's assertions; results that many trials share are computed once."""
    rows = [assertion.assess(trace) for assertion in scenario.assertions]
    key = (scenario.threshold, *map(id, rows))
    found = cache.get(key)
    if found is None:
        found = SharedOutcome(rows, *score_trial(rows, scenario.threshold))
        cache.keep(key, found)
    return found


def _judge_golden(trace: Trace, golden: GoldenRules) -> GoldenTrial:
    """The result of judging a trace against a golden, apart from its score."""
    from evalgate.scoring.golden.results import build_golden_trial

    return build_golden_trial(golden, trace)


def ref_of(trace: Trace) -> TraceRef:
    """The reference to a trace in reports."""
    source = trace.source
    return TraceRef(
        trace.trace_id,
        source.path,
        source.format,
        source.sha256,
        source.line,
        source.record,
        trace.commit,
        trace.agent_hash,
        trace.started_at or trace.ended_at,
        None,
        trace.model and truncate(trace.model, MAX_MODEL_NAME),
        _hash_tools(trace.tool_definitions),
        hash_stable_text(trace.system_instructions) if trace.system_instructions else None,
        *identify_trace(trace),
    )


def _hash_tools(definitions: Sequence[Mapping[str, Any]]) -> str | None:
    """Hashes tool definitions in any order; None if there are none, or one is not JSON."""
    if not definitions:
        return None
    try:
        encoded = sorted(orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in definitions)
    except orjson.JSONEncodeError:
        return None
    return hash_stable_text(b"\n".join(encoded).decode())


def _fallback_id(source: TraceLocation) -> str:
    return source.path if source.line is None else f"{source.path}#L{source.line}"


def identify_trace(trace: Trace) -> tuple[int | None, int]:
    """Digests of what a trace is called, by its id or else its bytes, and of its conversation; computed once."""
    found: tuple[int | None, int] | None = trace.identity
    if found is None:
        found = trace.identity = (_digest_name(trace), _digest_conversation(trace))
    return found


def _digest_name(trace: Trace) -> int | None:
    """The digest of the recorded trace id; without one, of the record."""
    source = trace.source
    if trace.trace_id and not (source.sha256 and trace.trace_id.startswith(source.sha256[:32])):
        return _digest(["id", trace.trace_id])
    if source.record is None:
        return _digest(["bytes", source.sha256]) if source.sha256 else None
    figures = [trace.trial, trace.usage, trace.cost, trace.latency, trace.started_at, trace.ended_at, trace.status]
    return _digest([*figures, trace.model, trace.tags, trace.evaluations, trace.metadata, _digest_conversation(trace)])


def _digest_conversation(trace: Trace) -> int:
    spoken = list(map(_SPOKEN, trace.messages))
    has_results = len(spoken) > len(trace.tool_calls)  # results are messages too
    return _digest([spoken, list(map(_CALLED if has_results else _ANSWERED, trace.tool_calls))])


def _digest(value: Any) -> int:
    try:
        data = encode_json(value)
    except TypeError:  # an integer of more than 64 bits, or half of a surrogate pair
        data = repr(value).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") >> (64 - DIGEST_BITS)
