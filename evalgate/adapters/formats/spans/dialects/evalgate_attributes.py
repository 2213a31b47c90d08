"""Reads attributes that users add for EvalGate: scenario, trial, and the role of a span."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.side_fields import ORIGIN_KEYS, SCENARIO_KEYS, TRIAL_KEYS
from evalgate.adapters.formats.core.fields import count, identifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.spans.span import Span, SpanFacts

ROLE = "evalgate.role"
EXCLUDED_ROLES = frozenset({"user", "judge"})
MAX_DIGITS = 9


def add(span: Span, facts: SpanFacts) -> None:
    """Adds them from the span, its metadata or its resource; raises FieldError for invalid values."""
    for source in (span.attributes, facts.metadata, span.resource):
        _add_scenario(source, facts, is_metadata=source is facts.metadata)
        for key in ORIGIN_KEYS:
            if type(source.get(key)) is str:
                facts.metadata.setdefault(key, source[key])
    role = span.attributes.get(ROLE)
    if type(role) is str and role in EXCLUDED_ROLES:
        facts.kind = "excluded"


def _add_scenario(attributes: Mapping[str, Any], facts: SpanFacts, *, is_metadata: bool) -> None:
    for key in SCENARIO_KEYS if is_metadata else SCENARIO_KEYS[:1]:
        if attributes.get(key) is not None and facts.scenario_id is None:
            facts.scenario_id = identifier(attributes[key], key)
    for key in TRIAL_KEYS:
        if attributes.get(key) is not None and facts.trial is None:
            facts.trial = count(_parse_number(attributes[key]), key)


def _parse_number(value: Any) -> Any:
    """Parses digits, since many tracers store text only."""
    is_digits = type(value) is str and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS
    return int(value) if is_digits else value
