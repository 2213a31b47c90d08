"""Builds one trial of `results.json`, as values or as encoded JSON."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from msgspec import to_builtins

from evalgate.models.run.run import StoredTrial
from evalgate.models.run.trial_doc import AssertionDoc, GoldenTrialDoc, LocationDoc, PricingDoc, TrialDoc, TrialHead
from evalgate.models.run.trials import TrialDocs
from evalgate.reporting.results.clean_record import CLEANERS, clean_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.errors import Location
    from evalgate.models.run.run import AssertionResult, Trial, TrialResult

_ASSERTIONS = b',"assertions":'


def build_trial_docs(trials: Sequence[Trial]) -> Sequence[TrialDoc]:
    """Builds the documents of trials; stored ones stay encoded."""
    if trials and isinstance(trials[0], StoredTrial):
        return TrialDocs(cast("Sequence[StoredTrial]", trials))
    return [clean_record(trial, TrialDoc) for trial in trials]


def encode_trial(trial: TrialResult, shared_end: bytes = b"") -> bytes:
    """Encodes the document of a trial without its first field, the number, which is known only at the end.

    It also lacks the end that it shares with others, unless more fields follow.
    """
    import orjson

    head = orjson.dumps(to_builtins(clean_record(trial, TrialHead))).partition(b",")[2][:-1]
    own = {name: CLEANERS[kind](value) for name, kind, value in _list_own_fields(trial)}
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


@lru_cache(maxsize=1_024)
def build_location_doc(location: Location | None) -> LocationDoc | None:
    """Builds a location in a suite file."""
    return location and clean_record(location, LocationDoc)
