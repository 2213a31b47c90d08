"""Builds one trial of `results.json`, as values or as encoded JSON."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from evalgate.models.results.trial_docs import TrialDocs
from evalgate.models.run.run import StoredTrial, TrialResult
from evalgate.reporting.results.clean_values import (
    clamp_count,
    clean_evidence,
    clean_id,
    clean_name,
    clean_names,
    clean_optional_name,
    clean_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orjson import Fragment

    from evalgate.errors import Location
    from evalgate.models.results.results import AssertionDoc, LocationDoc, TraceDoc, TrialDoc
    from evalgate.models.results.results_sections import ModelUsageDoc, PricingDoc
    from evalgate.models.run.run import AssertionResult, TraceRef, Trial
    from evalgate.models.trace.pricing import ModelUsage, Pricing

MAX_MODELS = 50
MAX_CALLS = 1_000
"""Most names of tool calls kept for a trial."""
_ASSERTIONS = b',"assertions":'


def build_trial_docs(trials: Sequence[Trial]) -> Sequence[TrialDoc]:
    """Builds the documents of trials; stored ones stay encoded."""
    if trials and isinstance(trials[0], StoredTrial):
        return TrialDocs(cast("Sequence[StoredTrial]", trials))
    return [build_trial_doc(trial) for trial in trials if isinstance(trial, TrialResult)]


def build_trial_doc(trial: TrialResult) -> TrialDoc:
    """Builds the document of a trial."""
    assertions = [_build_assertion_doc(each) for each in trial.assertions]
    return cast("TrialDoc", {"trial": trial.trial, **_build_fields(trial, assertions)})


def encode_trial(trial: TrialResult, shared_end: bytes = b"") -> bytes:
    """Encodes the document of a trial without its first field, the number, which is known only at the end.

    It also lacks the end that it shares with others, unless more fields follow.
    """
    import orjson

    if not shared_end:
        return orjson.dumps(_build_fields(trial, [*map(_encode_assertion, trial.assertions)]))[1:]
    if trial.pricing is not None:
        return orjson.dumps(_build_fields(trial, orjson.Fragment(shared_end[len(_ASSERTIONS) : -1])))[1:]
    return orjson.dumps(_build_opening(trial))[1:-1]


def encode_assertions(assertions: Sequence[AssertionResult]) -> bytes:
    """Encodes the end of a trial's document that trials with the same assertions share."""
    import orjson

    return b"%b%b}" % (_ASSERTIONS, orjson.dumps([*map(_encode_assertion, assertions)]))


def _build_opening(trial: TrialResult) -> dict[str, Any]:
    """Builds the fields of a trial before its assertions."""
    reason = trial.reason
    return {
        "trace": _build_trace_doc(trial.trace),
        "status": trial.status,
        "score": trial.score,
        "cost_usd": trial.cost_usd,
        "latency_seconds": trial.latency_seconds,
        "total_tokens": clamp_count(trial.total_tokens),
        "input_tokens": clamp_count(trial.input_tokens),
        "output_tokens": clamp_count(trial.output_tokens),
        "tool_calls": clean_call_names(trial.tool_calls),
        "reason": None if reason is None else clean_text(reason),
    }


def _build_fields(trial: TrialResult, assertions: Any) -> dict[str, Any]:
    document = _build_opening(trial)
    document["assertions"] = assertions
    if trial.pricing is not None:
        document["pricing"] = _build_pricing_doc(trial.pricing)
    if trial.golden is not None:
        from evalgate.reporting.results.judged_golden_doc import build_golden_trial_doc

        document["golden"] = build_golden_trial_doc(trial.golden)
    return document


def _build_trace_doc(trace: TraceRef) -> TraceDoc:
    """Builds the trace of a trial; `stale` comes first, as it may be added later."""
    document: TraceDoc = {
        "id": None if trace.id is None else clean_id(trace.id),
        "path": clean_name(trace.path),
        "format": trace.format,
        "sha256": trace.sha256,
        "line": trace.line,
        "record": trace.record,
    }
    if trace.stale is not None:
        document = {"stale": clean_text(trace.stale), **document}
    if trace.commit is not None:
        document["commit"] = clean_name(trace.commit)
    if trace.agent_hash is not None:
        document["agent_hash"] = clean_name(trace.agent_hash)
    if trace.recorded_at is not None:
        document["recorded_at"] = clean_name(trace.recorded_at)
    if trace.model is not None:
        document["model"] = clean_name(trace.model)
    if trace.tools_hash is not None:
        document["tools_hash"] = trace.tools_hash
    if trace.prompt_hash is not None:
        document["prompt_hash"] = trace.prompt_hash
    return document


def _encode_assertion(assertion: AssertionResult) -> AssertionDoc | Fragment:
    """Builds an assertion; one that trials share is encoded once."""
    if not assertion.is_shared:
        return _build_assertion_doc(assertion)
    fragment: Fragment | None = assertion.fragment
    if fragment is None:
        import orjson

        fragment = assertion.fragment = orjson.Fragment(orjson.dumps(_build_assertion_doc(assertion)))
    return fragment


def _build_assertion_doc(assertion: AssertionResult) -> AssertionDoc:
    return {
        "name": clean_name(assertion.name),
        "type": assertion.type,
        "outcome": assertion.outcome,
        "score": assertion.score,
        "weight": assertion.weight,
        "required": bool(assertion.required),
        "reason": clean_text(assertion.reason),
        "location": build_location_doc(assertion.location),
        "evidence": clean_evidence(assertion.evidence),
    }


def clean_call_names(calls: Sequence[str]) -> list[str]:
    """Cleans the names of the first calls of a trial."""
    return clean_names(calls[:MAX_CALLS])


def _build_pricing_doc(pricing: Pricing) -> PricingDoc:
    """Builds the pricing; model names come from the trace and are cleaned."""
    usage = pricing["usage"]
    return {
        "table": clean_optional_name(pricing["table"]),
        "usd": pricing["usd"],
        "known_usd": pricing["known_usd"],
        "recorded_usd": pricing["recorded_usd"],
        "missing_models": [clean_name(model) for model in pricing["missing_models"][:MAX_MODELS]],
        "usage": None if usage is None else [_build_usage_doc(row) for row in usage],
    }


def _build_usage_doc(row: ModelUsage) -> ModelUsageDoc:
    return {
        "model": clean_name(row["model"]),
        "provider": clean_optional_name(row["provider"]),
        "request_tokens": row["request_tokens"],
        "input_tokens": row["input_tokens"],
        "output_tokens": row["output_tokens"],
        "cache_read_input_tokens": row["cache_read_input_tokens"],
        "cache_write_input_tokens": row["cache_write_input_tokens"],
    }


@lru_cache(maxsize=1_024)
def build_location_doc(location: Location | None) -> LocationDoc | None:
    """Builds a location in a suite file."""
    if location is None:
        return None
    return {"file": clean_name(location.file), "line": location.line, "column": location.column}
