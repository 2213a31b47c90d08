"""Properties of a JMESPath tree that need no value."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.values.json_values import read_amount

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from collections.abc import Set as AbstractSet

Node = Any
"""A tree of the jmespath library: dictionaries with type, children and value."""

_CHAINS = frozenset({"subexpression", "index_expression", "pipe"})
_LOOPS = frozenset({"projection", "value_projection", "filter_projection"})
_MEASURES = frozenset({"length", "keys", "type"})
"""Functions whose result shows nothing of the entries of a list."""
SELECTIONS = frozenset({"multi_select_list", "multi_select_dict"})
FIXED_COST = frozenset({"field", "subexpression", "index", "index_expression", "pipe", "identity", "current"})
"""Nodes that can't fail, and whose work depends on the expression alone."""

JSON_TEXT = "json_text"
"""The type of a node whose only child finds text that may be JSON."""
_INTO = frozenset({"index_expression", "projection", "filter_projection", "value_projection", "flatten"})
"""Nodes that go on into what their first child finds; a subexpression goes on into all but the last."""


def cost_of(node: Node) -> int:
    """Counts the steps of the tree, except those that are counted once per member of a list."""
    if node["type"] in _LOOPS:
        return 1 + cost_of(node["children"][0])
    below = [child for child in node["children"] if isinstance(child, dict) and child["type"] != "expref"]
    return 1 + sum(map(cost_of, below))


def is_finite(value: Any) -> bool:
    """Returns whether no number within the value is infinite or NaN."""
    rest = [value]
    while rest:
        node = rest.pop()
        if isinstance(node, float) and not isfinite(node):
            return False
        if isinstance(node, dict | list):
            rest += node.values() if isinstance(node, dict) else node
    return True


def links(node: Node) -> list[Node]:
    """Returns the parts of a chain, with nested chains flattened."""
    if node["type"] not in _CHAINS:
        return [] if node["type"] in {"identity", "current"} else [node]
    return [link for child in node["children"] for link in links(child)]


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in _children(node):
        yield from _walk(child)


def node_types(node: Node) -> set[str]:
    """Returns the types of all nodes."""
    return {each["type"] for each in _walk(node)}


def path_of(node: Node) -> tuple[str, ...]:
    """Returns the names of a plain path; empty if the tree does anything else."""
    found = links(node)
    is_path = all(link["type"] == "field" for link in found)
    return tuple(link["value"] for link in found) if is_path else ()


class Equality(NamedTuple):
    """`path == 'text'`: the names of a plain path of at least two, and the text."""

    path: tuple[str, ...]
    text: str


def equality_of(node: Node) -> Equality | None:
    """What the tree says if it compares a plain path with a text; None if it does anything else."""
    if node["type"] != "comparator" or node["value"] != "eq":
        return None
    sides = sorted(node["children"], key=lambda side: side["type"] == "literal")
    path, text = path_of(sides[0]), sides[1].get("value")
    is_text = sides[1]["type"] == "literal" and isinstance(text, str)
    return Equality(path, text) if is_text and len(path) > 1 else None


def may_compare_numbers(node: Node) -> bool:
    """Returns whether the expression may compare text that is a number with a number."""
    return any(each["type"] == "comparator" and _may_have_numbers(each) for each in _walk(node))


def _may_have_numbers(comparator: Node) -> bool:
    """Any text of a literal that is no number, and any other value of one, compare alike with text and number."""
    values = [side["value"] for side in comparator["children"] if side["type"] == "literal"]
    numbers = [read_amount(each) if isinstance(each, str) else each for each in values]
    return all(type(each) in (int, float) for each in numbers)


def mark_comparisons(node: Node, end: str) -> Node:
    """The tree with an end behind the name of each comparison."""
    children = [mark_comparisons(child, end) if isinstance(child, dict) else child for child in node["children"]]
    return {**node, "children": children} | ({"value": node["value"] + end} if node["type"] == "comparator" else {})


def uses_root(node: Node) -> bool:
    """Returns whether the expression reads the view itself (`@`, `*`), not only named sections."""
    kind, children = node["type"], node["children"]
    if kind in {"current", "identity"}:
        return True
    if kind in {"field", "literal", "expref", "index", "slice"}:
        return False
    if kind in {"subexpression", "index_expression", "pipe", "projection", "value_projection", "filter_projection"}:
        return uses_root(children[0])
    return any(uses_root(child) for child in children)


def field_names(node: Node) -> set[str]:
    """Returns the names of all fields that the expression reads."""
    return {each["value"] for each in _walk(node) if each["type"] == "field"}


def function_names(node: Node) -> set[str]:
    """Returns the names of all functions that the expression calls."""
    return {each["value"] for each in _walk(node) if each["type"] == "function_expression"}


def root_fields(node: Node) -> set[str]:
    """Returns the names of the fields that the expression reads from the view itself: its sections."""
    kind, children = node["type"], _children(node)
    if kind == "field":
        return {node["value"]}
    if kind == "expref":
        return set()
    if kind in _CHAINS | _LOOPS:
        return root_fields(children[0])
    return set[str]().union(*map(root_fields, children))


def ends_in(node: Node, names: Collection[str]) -> bool:
    """Returns whether the expression may find the value of one of these fields, or entries of it."""
    kind, children = node["type"], _children(node)
    if kind == "field":
        return node["value"] in names
    if kind in _CHAINS | _LOOPS:
        selects_entries = children[1]["type"] in {"identity", "current", "index", "slice"}
        return ends_in(children[0] if selects_entries else children[1], names)
    if kind in {"not_expression", "literal"} or (kind == "function_expression" and node["value"] in _MEASURES):
        return False
    return any(ends_in(child, names) for child in children)


def _children(node: Node) -> list[Node]:
    return [child for child in node["children"] if isinstance(child, dict)]


def mark_json_texts(node: Node, fields: AbstractSet[str]) -> Node:
    """The tree with a `json_text` node around each of these fields that the expression goes on into.

    So `result.hits` finds the same whether the recorder kept an object or its text, and `result` what it kept.
    """
    children = [mark_json_texts(child, fields) if isinstance(child, dict) else child for child in node["children"]]
    count = len(children) - 1 if node["type"] == "subexpression" else node["type"] in _INTO
    for at, child in enumerate(children[:count]):
        if _find_last(child) in fields:
            children[at] = {"type": JSON_TEXT, "children": [child]}
    return {**node, "children": children}


def _find_last(node: Node) -> str | None:
    """The name of the field that a path ends in."""
    while node["type"] == "subexpression":
        node = node["children"][-1]
    return node["value"] if node["type"] == "field" else None
