"""What an expression finds in every trace, whatever the agent did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.closed_fields import CLOSED
from evalgate.models.trace.trace_view import METADATA, SECTIONS

if TYPE_CHECKING:
    from evalgate.measures.jmespath.parse_tree import Node
    from evalgate.measures.jmespath.query import Query

_LISTS = frozenset({"projection", "filter_projection", "flatten"})
"""Nodes that find a list in a list, if only an empty one."""
_SIZES = frozenset(name for name in METADATA if name.endswith(("_count", "_tokens", "_usd", "_ms", "_seconds")))
_OF_SIZES = frozenset({"usage", "cost", "latency"})


def finds_always(tree: Node) -> bool:
    """Whether the expression finds something in every trace: a section, entries of its lists, or a truth value."""
    kind, children = tree["type"], tree["children"]
    if kind == "field":
        return tree["value"] in SECTIONS
    if kind == "comparator":
        return tree["value"] in ("eq", "ne") or _is_length(children[0])
    return kind == "not_expression" or _is_length(tree) or _finds_list(tree)


def _finds_list(tree: Node) -> bool:
    kind, children = tree["type"], tree["children"]
    if kind == "field":
        return tree["value"] in CLOSED
    is_slice = kind == "index_expression" and children[1]["type"] == "slice"
    return (kind in _LISTS or is_slice) and _finds_list(children[0])


def _is_length(tree: Node) -> bool:
    return bool(tree["type"] == "function_expression" and tree["value"] == "length")


def finds_size(query: Query) -> bool:
    """Whether the expression finds nothing but numbers from 0: a length, or a figure of the run."""
    section, *names = query.path or ("",)
    is_figure = section in _OF_SIZES or (section == "metadata" and bool(_SIZES.intersection(names)))
    return _is_length(query.tree) or is_figure


def fits_all_sizes(operator: str, bound: Any) -> bool:
    """Whether every number from 0 compares to the bound as the operator demands."""
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        return False
    return bound <= 0 if operator == "gte" else operator in ("gt", "ne") and bound < 0
