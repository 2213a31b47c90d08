"""Which evidence a JMESPath expression on a trace reads, found in its parse tree."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from evalgate.measures.jmespath.parse_tree import (
    ends_in,
    field_names,
    function_names,
    node_types,
    root_fields,
    uses_root,
)

if TYPE_CHECKING:
    from evalgate.measures.jmespath.query import Query
    from evalgate.models.trace.trace import EvidenceKind

_CALL_FIELDS = frozenset({"tool_calls", "tool_call_count"})
_WITH_CALLS = frozenset({"exchanges", "turns"})
"""Sections whose entries contain calls."""
_WHOLE_VALUES = frozenset({"to_string", "values"})
_BY_CALL_FIELD: dict[EvidenceKind, frozenset[str]] = {
    "arguments": frozenset({"arguments", "arguments_raw", "arguments_error"}),
    "results": frozenset({"result", "result_text", "exit_code"}),
    "errors": frozenset({"status", "error", "errors"}),
    "times": frozenset({"duration_ms"}),
}
"""Fields of calls that need more than their names."""
_BY_FIELD: dict[EvidenceKind, frozenset[str]] = {
    "usage": frozenset({"input_tokens", "output_tokens", "total_tokens", "cache_read_input_tokens"}),
    "cost": frozenset({"cost_usd"}),
    "times": frozenset({"latency_seconds", "latency_ms"}),
    "messages": frozenset({"turn_count"}),
}
_BY_SECTION: dict[str, EvidenceKind] = {
    "usage": "usage",
    "cost": "cost",
    "latency": "times",
    "turns": "messages",
    "exchanges": "messages",
}


@lru_cache(maxsize=1_024)
def query_evidence(query: Query, *, is_measured: bool = False) -> tuple[EvidenceKind, ...]:
    """Returns the kinds of evidence that the expression reads.

    `is_measured`: only the length or the existence of what it finds matters, so that finding messages does
    not read the calls in them.
    """
    tree = query.tree
    names, sections = field_names(tree), root_fields(tree)
    kinds = {kind for kind, fields in _BY_FIELD.items() if names & fields}
    kinds |= {kind for section, kind in _BY_SECTION.items() if section in sections}
    reads_entries = bool(sections & _WITH_CALLS) and (
        (not is_measured and ends_in(tree, _WITH_CALLS))
        or "value_projection" in node_types(tree)
        or bool(function_names(tree) & _WHOLE_VALUES)
    )
    if names & _CALL_FIELDS or "errors" in sections or uses_root(tree) or reads_entries:
        kinds |= {"calls", *(kind for kind, fields in _BY_CALL_FIELD.items() if names & fields)}
    return tuple(sorted(kinds))
