"""Builds one trial of `results.json`, as values or as encoded JSON."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from msgspec import to_builtins

from evalgate.models.run.run import StoredTrial
from evalgate.models.run.trial_doc import AssertionDoc, GoldenTrialDoc, LocationDoc, PricingDoc, TrialDoc, TrialHead
from evalgate.models.run.trials import TrialDocs
from evalgate.reporting.results.clean_values import clean_name, clean_optional_name, clean_record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.errors import Location
    from evalgate.models.run.golden import GoldenTrial
    from evalgate.models.run.run import AssertionResult, Trial, TrialResult
    from evalgate.models.run.trial_doc import ModelUsageDoc
    from evalgate.models.trace.pricing import ModelUsage, Pricing

MAX_MODELS = 50
_ASSERTIONS = b',"assertions":'


def build_trial_docs(trials: Sequence[Trial]) -> Sequence[TrialDoc]:
    """Builds the documents of trials; stored ones stay encoded."""
    if trials and isinstance(trials[0], StoredTrial):
        return TrialDocs(cast("Sequence[StoredTrial]", trials))
    return [clean_record(trial, TrialDoc, BUILDERS.get) for trial in trials]


def encode_trial(trial: TrialResult, shared_end: bytes = b"") -> bytes:
    """Encodes the document of a trial without its first field, the number, which is known only at the end.

    It also lacks the end that it shares with others, unless more fields follow.
    """
    import orjson

    head = orjson.dumps(to_builtins(clean_record(trial, TrialHead))).partition(b",")[2][:-1]
    own = {name: BUILDERS[kind](value) for name, kind, value in _list_own_fields(trial)}
    if shared_end and not own:
        return head
    end = shared_end or encode_assertions(trial.assertions)
    return b"%b%b,%b" % (head, end[:-1], orjson.dumps(own)[1:]) if own else head + end


def _list_own_fields(trial: TrialResult) -> list[tuple[str, Any, Any]]:
    """The fields after the assertions that a trial has, with the types of their documents."""
    fields = ("pricing", PricingDoc, trial.pricing), ("golden", GoldenTrialDoc, trial.golden)
    return [field for field in fields if field[2] is not None]


def encode_assertions(assertions: Sequence[AssertionResult]) -> bytes:
    """Encodes the end of a trial's document that trials with the same assertions share."""
    import orjson

    return b"%b%b}" % (_ASSERTIONS, orjson.dumps([*map(_encode_assertion, assertions)]))


def _encode_assertion(assertion: AssertionResult) -> Any:
    """Encodes an assertion; one that trials share is encoded once."""
    import orjson

    if assertion.fragment is not None:
        return assertion.fragment
    document = to_builtins(clean_record(assertion, AssertionDoc))
    if not assertion.is_shared:
        return document
    assertion.fragment = orjson.Fragment(orjson.dumps(document))
    return assertion.fragment


def _build_golden_trial_doc(trial: GoldenTrial) -> GoldenTrialDoc:
    from evalgate.reporting.results.judged_golden_doc import build_golden_trial_doc

    return build_golden_trial_doc(trial)


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
    return location and clean_record(location, LocationDoc)


BUILDERS: dict[Any, Callable[[Any], Any]] = {PricingDoc: _build_pricing_doc, GoldenTrialDoc: _build_golden_trial_doc}
"""What builds the documents in a trial that are not records of the same fields."""
