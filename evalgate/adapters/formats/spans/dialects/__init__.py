"""Reads facts from a span in any vocabulary of attributes. Entry points: `read_facts`, `DIALECTS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans.dialects import (
    adk,
    any_agent,
    claude_code,
    common,
    evalgate_attributes,
    genai,
    langsmith,
    log_bodies,
    openinference,
    platforms,
    pydantic_ai,
    traceloop,
    vercel,
)
from evalgate.adapters.formats.spans.span import SpanFacts

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span

DIALECTS = (
    *(genai, openinference, traceloop, vercel, adk, pydantic_ai),
    *(any_agent, claude_code, platforms, langsmith, log_bodies),
)
"""In order of precedence: a later dialect does not overwrite the facts of an earlier one."""


def read_facts(span: Span) -> SpanFacts:
    """Reads all facts from a span's attributes and events; raises TraceError for invalid numbers.

    The first dialect that recognises the span sets its kind. An unrecognised span with a model and tokens is
    a request to a model.
    """
    facts = SpanFacts("other")
    kinds = [kind for dialect in DIALECTS if (kind := dialect.kind_of(span)) is not None]
    if kinds:
        facts.kind = kinds[0]
    for dialect in DIALECTS:
        dialect.add(span, facts)
    common.add(span, facts)
    evalgate_attributes.add(span, facts)
    if facts.finish_reason is None and facts.output:
        facts.finish_reason = facts.output[-1].finish_reason
    if not kinds and facts.model is not None and facts.usage is not None:
        facts.kind = "inference"
    return facts
