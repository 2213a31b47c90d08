"""Builds one trial of `results.json`, as values or as encoded JSON."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from evalgate.models.results.trial_docs import TrialDocs
from evalgate.models.run.trials import Trials
from evalgate.reporting.results.bounded import (
    bounded_evidence,
    bounded_id,
    bounded_name,
    bounded_names,
    bounded_text,
    maybe_name,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orjson import Fragment

    from evalgate.errors import Location
    from evalgate.models.results.results import (
        AssertionDoc,
        LocationDoc,
        ModelUsageDoc,
        PricingDoc,
        TraceDoc,
        TrialDoc,
    )
    from evalgate.models.run.run import AssertionResult, TraceRef, TrialResult
    from evalgate.models.trace.pricing import ModelUsage, Pricing

MAX_MODELS = 50
MAX_CALLS = 1_000
"""Most names of tool calls kept for a trial."""
_ASSERTIONS = b',"assertions":'


def trial_docs(trials: Sequence[TrialResult]) -> Sequence[TrialDoc]:
    """Builds the documents of trials; those of a store stay encoded."""
    return TrialDocs(trials) if isinstance(trials, Trials) else [trial_doc(trial) for trial in trials]


def trial_doc(trial: TrialResult) -> TrialDoc:
    """Builds the document of a trial."""
    said = _said(trial, names(trial.tool_calls), [_assertion_doc(each) for each in trial.assertions])
    return cast("TrialDoc", {"trial": trial.trial, **said})


def trial_line(trial: TrialResult) -> tuple[bytes, bytes]:
    """Encodes the document of a trial without its first field, the number, which is known only at the end.

    Returns its beginning, and the end that other trials share or nothing.
    """
    import orjson

    together, calls = trial.together, names(trial.tool_calls)
    if together is None or not together.is_shared:
        return orjson.dumps(_said(trial, calls, [*map(_written, trial.assertions)]))[1:], b""
    if not together.end:
        together.end = b"%b%b}" % (_ASSERTIONS, orjson.dumps([*map(_written, trial.assertions)]))
    if trial.pricing is not None or trial.golden is not None:
        rows = orjson.Fragment(together.end[len(_ASSERTIONS) : -1])
        return orjson.dumps(_said(trial, calls, rows))[1:], b""
    return orjson.dumps(_opening(trial, calls))[1:-1], together.end


def _opening(trial: TrialResult, calls: list[str]) -> dict[str, Any]:
    """Builds the fields of a trial before its assertions."""
    reason = trial.reason
    return {
        "trace": _trace_doc(trial.trace),
        "status": trial.status,
        "score": trial.score,
        "cost_usd": trial.cost_usd,
        "latency_seconds": trial.latency_seconds,
        "total_tokens": whole(trial.total_tokens),
        "input_tokens": whole(trial.input_tokens),
        "output_tokens": whole(trial.output_tokens),
        "tool_calls": calls,
        "reason": None if reason is None else bounded_text(reason),
    }


def _said(trial: TrialResult, calls: list[str], assertions: Any) -> dict[str, Any]:
    document = _opening(trial, calls)
    document["assertions"] = assertions
    if trial.pricing is not None:
        document["pricing"] = _pricing_doc(trial.pricing)
    if trial.golden is not None:
        from evalgate.reporting.results.judged_golden_doc import golden_trial_doc

        document["golden"] = golden_trial_doc(trial.golden)
    return document


def _trace_doc(trace: TraceRef) -> TraceDoc:
    """Builds the trace of a trial; `stale` comes first, as it may be added later."""
    document: TraceDoc = {
        "id": None if trace.id is None else bounded_id(trace.id),
        "path": bounded_name(trace.path),
        "format": trace.format,
        "sha256": trace.sha256,
        "line": trace.line,
        "record": trace.record,
    }
    if trace.stale is not None:
        document = {"stale": bounded_text(trace.stale), **document}
    if trace.commit is not None:
        document["commit"] = bounded_name(trace.commit)
    if trace.agent_hash is not None:
        document["agent_hash"] = bounded_name(trace.agent_hash)
    if trace.recorded_at is not None:
        document["recorded_at"] = bounded_name(trace.recorded_at)
    return document


def _written(assertion: AssertionResult) -> AssertionDoc | Fragment:
    """Builds an assertion; one that trials share is encoded once."""
    if not assertion.is_shared:
        return _assertion_doc(assertion)
    told: Fragment | None = assertion.told
    if told is None:
        import orjson

        told = assertion.told = orjson.Fragment(orjson.dumps(_assertion_doc(assertion)))
    return told


def _assertion_doc(assertion: AssertionResult) -> AssertionDoc:
    return {
        "name": bounded_name(assertion.name),
        "type": assertion.type,
        "outcome": assertion.outcome,
        "score": assertion.score,
        "weight": assertion.weight,
        "required": assertion.required,
        "reason": bounded_text(assertion.reason),
        "location": location_doc(assertion.location),
        "evidence": bounded_evidence(assertion.evidence),
    }


def names(calls: Sequence[str]) -> list[str]:
    """Cleans the names of the first calls of a trial."""
    return bounded_names(calls[:MAX_CALLS])


def _pricing_doc(pricing: Pricing) -> PricingDoc:
    """Builds the pricing; model names come from the trace and are cleaned."""
    usage = pricing["usage"]
    return {
        "table": maybe_name(pricing["table"]),
        "usd": pricing["usd"],
        "known_usd": pricing["known_usd"],
        "recorded_usd": pricing["recorded_usd"],
        "missing_models": [bounded_name(model) for model in pricing["missing_models"][:MAX_MODELS]],
        "usage": None if usage is None else [_usage_doc(row) for row in usage],
    }


def _usage_doc(row: ModelUsage) -> ModelUsageDoc:
    return {
        "model": bounded_name(row["model"]),
        "provider": maybe_name(row["provider"]),
        "request_tokens": row["request_tokens"],
        "input_tokens": row["input_tokens"],
        "output_tokens": row["output_tokens"],
        "cache_read_input_tokens": row["cache_read_input_tokens"],
        "cache_write_input_tokens": row["cache_write_input_tokens"],
    }


@lru_cache(maxsize=1_024)
def location_doc(location: Location | None) -> LocationDoc | None:
    """Builds a location in a suite file."""
    if location is None:
        return None
    return {"file": bounded_name(location.file), "line": location.line, "column": location.column}
