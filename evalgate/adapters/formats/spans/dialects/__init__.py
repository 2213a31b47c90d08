"""What a span says, whichever instrumentor wrote it: one reading for every vocabulary of attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans.dialects import (
    adk,
    any_agent,
    claude_code,
    common,
    evalgate_attributes,
    genai,
    log_bodies,
    openinference,
    platforms,
    pydantic_ai,
    traceloop,
    vercel,
)
from evalgate.adapters.formats.spans.span import Facts

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span

DIALECTS = (
    *(genai, openinference, traceloop, vercel, adk, pydantic_ai),
    *(any_agent, claude_code, platforms, log_bodies),
)
"""In the order they are asked: what one has told, a later one does not overwrite."""


def facts_of(span: Span) -> Facts:
    """All that a span's attributes and events tell; raises TraceError for figures that can't be ones.

    The kind is what the first dialect says that knows one. A span with a model and its tokens, of which
    nobody says what it is, is a request to a model.
    """
    facts = Facts("other")
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
