"""Reads facts from a span in any vocabulary of attributes. Entry points: `read_facts`, `find_kind`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans.dialects.attributes import add_common, add_evalgate_attributes, settle_usage
from evalgate.adapters.formats.spans.dialects.frameworks import ADK, ANY_AGENT, CLAUDE_CODE, PYDANTIC_AI
from evalgate.adapters.formats.spans.dialects.genai import GENAI
from evalgate.adapters.formats.spans.dialects.monocle import MONOCLE
from evalgate.adapters.formats.spans.dialects.openinference import OPENINFERENCE
from evalgate.adapters.formats.spans.dialects.platforms import AWS, LANGSMITH, PLATFORM
from evalgate.adapters.formats.spans.dialects.traceloop import TRACELOOP
from evalgate.adapters.formats.spans.dialects.vercel import VERCEL
from evalgate.adapters.formats.spans.span import SpanFacts

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span, SpanKind

DIALECTS = (
    *(GENAI, OPENINFERENCE, TRACELOOP, VERCEL, ADK, PYDANTIC_AI),
    *(ANY_AGENT, CLAUDE_CODE, PLATFORM, LANGSMITH, AWS, MONOCLE),
)
"""In order of precedence: a later dialect does not overwrite the facts of an earlier one."""


def find_kind(span: Span) -> SpanKind | None:
    """The kind that the first dialect gives which recognises the span; its other facts may exclude the span later."""
    kinds = (dialect.find_kind(span) for dialect in DIALECTS)
    return next((kind for kind in kinds if kind is not None), None)


def read_facts(span: Span) -> SpanFacts:
    """Reads all facts from a span's attributes and events; raises TraceError for invalid numbers.

    The first dialect that recognises the span sets its kind. An unrecognised span with a model and tokens is
    a request to a model.
    """
    named = find_kind(span)
    facts = SpanFacts(named or "other")
    for dialect in DIALECTS:
        dialect.add(span, facts)
    add_common(span, facts)
    add_evalgate_attributes(span, facts)
    settle_usage(facts)
    if facts.finish_reason is None and facts.output:
        facts.finish_reason = facts.output[-1].finish_reason
    if named is None and facts.model is not None and facts.usage is not None:
        facts.kind = "inference"
    return facts
