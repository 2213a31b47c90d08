"""Cleans a record for a document: the one walk over it, in which every text is cleaned as the types of its fields say.

The types are those of `models.run.bounds`. One that is not known is an error, so that no field leaves a run without a
decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from msgspec import UNSET, Meta, Struct, UnsetType

from evalgate.models.run.bounds import LIMIT, MOST, RARE, WORD
from evalgate.models.run.trial_doc import GoldenTrialDoc, PricingDoc
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
    from collections.abc import Callable

    from evalgate.models.run.golden import GoldenTrial
    from evalgate.models.run.trial_doc import ModelUsageDoc
    from evalgate.models.trace.pricing import ModelUsage, Pricing

    Clean = Callable[[Any], Any]

MAX_MODELS = 50

T = TypeVar("T", bound=Struct)


def clean_record(record: object, kind: type[T]) -> T:
    """A cleaned copy of a record as a `kind`, which declares what of it a document shows."""
    return cast("T", _cleaner(kind)(record))


@cache
def _cleaner(kind: type[Struct]) -> Clean:
    """Makes the function that cleans records of this type."""
    hints = get_type_hints(kind, include_extras=True)
    fields = [(name, _find_cleaner(hints[name])) for name in kind.__struct_fields__]

    def clean(record: object) -> Struct:
        return kind(**{name: each(getattr(record, name)) for name, each in fields})

    return clean


def _find_cleaner(kind: Any) -> Clean:
    """The function that cleans values of this type; raises TypeError if it is none of those that records use."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _find_declared(arguments[0], [each for each in arguments[1:] if isinstance(each, Meta)])
    if origin in {Union, UnionType}:
        return _join(arguments)
    if origin in {list, tuple, Sequence}:
        return partial(_clean_list, clean=_find_cleaner(arguments[0]))
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _cleaner(kind)
    if kind not in CLEANERS:
        raise TypeError(f"it is not known how to clean a {kind}")
    return CLEANERS[kind]


def _find_declared(kind: Any, declared: Sequence[Meta]) -> Clean:
    for each in declared:
        extra = each.extra or {}
        if WORD in extra:
            return _keep
        if RARE in extra:
            return clean_id
        if LIMIT in extra:
            return partial(clean_text, limit=extra[LIMIT])
        if MOST in extra:
            return partial(_clean_names, most=extra[MOST])
        if each.ge is not None and each.le is not None:
            return partial(_clamp, least=each.ge, most=each.le)
    return _find_cleaner(kind)


def _join(kinds: Sequence[Any]) -> Clean:
    """Cleans a value that may be absent, which is of one type otherwise; None is absent if a document has no null."""
    known = [each for each in kinds if each not in {NoneType, UnsetType}]
    if len(known) != 1:
        raise TypeError(f"it is not known how to clean one of {kinds}")
    clean, absent = _find_cleaner(known[0]), None if NoneType in kinds else UNSET
    return lambda value: absent if value is None or value is UNSET else clean(value)


def _clean_list(values: Sequence[Any], clean: Clean) -> list[Any]:
    return [clean(each) for each in values]


def _clean_names(names: Sequence[str], most: int) -> list[str]:
    return clean_names(names[:most])


def _clamp(number: float, least: float, most: float) -> float:
    """The number within the bounds that a reader of the document accepts."""
    return number if least <= number <= most else most if number > most else max(number, least)


def _keep(value: Any) -> Any:
    return value


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


CLEANERS: dict[Any, Clean] = {
    str: clean_text,
    int: clamp_count,
    float: _keep,
    bool: bool,
    dict[str, Any]: clean_evidence,
    PricingDoc: _build_pricing_doc,
    GoldenTrialDoc: _build_golden_trial_doc,
}
"""How to clean a value of a type, or to build the document that shows it."""
