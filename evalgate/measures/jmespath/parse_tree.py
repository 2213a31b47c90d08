"""What can be told of a JMESPath tree without a value."""

from __future__ import annotations

from math import isfinite
from typing import Any

from evalgate.measures.jmespath.functions import BOOLEAN

Node = Any
"""jmespath's own tree: dictionaries with type, children and value."""

_CHAINS = frozenset({"subexpression", "index_expression", "pipe"})
_LOOPS = frozenset({"projection", "value_projection", "filter_projection"})
SELECTIONS = frozenset({"multi_select_list", "multi_select_dict"})
FIXED = frozenset({"field", "subexpression", "index", "index_expression", "pipe", "identity", "current"})
"""Parts whose work depends on the expression alone and which can't fail."""


def cost_of(node: Node) -> int:
    """How many steps the tree takes, but for those that are counted once for each member of a list."""
    if node["type"] in _LOOPS:
        return 1 + cost_of(node["children"][0])
    below = [child for child in node["children"] if isinstance(child, dict) and child["type"] != "expref"]
    return 1 + sum(map(cost_of, below))


def is_boolean(node: Node) -> bool:
    """True where the tree finds nothing but true, false and null."""
    kind = node["type"]
    return kind in {"comparator", "not_expression"} or (
        kind == "function_expression" and node["value"] in BOOLEAN
    )


def is_finite(value: Any) -> bool:
    """False where a number anywhere within the value is infinite or none."""
    rest = [value]
    while rest:
        node = rest.pop()
        if isinstance(node, float) and not isfinite(node):
            return False
        if isinstance(node, dict | list):
            rest += node.values() if isinstance(node, dict) else node
    return True


def links(node: Node) -> list[Node]:
    """The parts of a chain, those of its chains among them."""
    if node["type"] not in _CHAINS:
        return [] if node["type"] in {"identity", "current"} else [node]
    return [link for child in node["children"] for link in links(child)]


def kinds(node: Node) -> set[str]:
    """The types of all parts."""
    below = (child for child in node["children"] if isinstance(child, dict))
    return {node["type"]}.union(*map(kinds, below))


def path_of(node: Node) -> tuple[str, ...]:
    """The names that the tree walks along; empty where it does anything else."""
    found = links(node)
    is_path = all(link["type"] == "field" for link in found)
    return tuple(link["value"] for link in found) if is_path else ()


def texts_asked_for(condition: Node) -> list[tuple[str, str]]:
    """Fields and the texts they must be, where a filter asks for nothing else; empty where it does."""
    kind, children = condition["type"], condition["children"]
    if kind == "and_expression":
        first, second = map(texts_asked_for, children)
        return [*first, *second] if first and second else []
    if kind == "comparator" and condition["value"] == "eq":
        left, right = sorted(children, key=lambda child: child["type"] == "literal")
        if left["type"] == "field" and right["type"] == "literal" and isinstance(right["value"], str):
            return [(left["value"], right["value"])]
    return []


def sees_root(node: Node) -> bool:
    """True where the expression looks at the view itself (`@`, `*`) and not only at named sections."""
    kind, children = node["type"], node["children"]
    if kind in {"current", "identity"}:
        return True
    if kind in {"field", "literal", "expref", "index", "slice"}:
        return False
    if kind in {
        "subexpression",
        "index_expression",
        "pipe",
        "projection",
        "value_projection",
        "filter_projection",
    }:
        return sees_root(children[0])
    return any(sees_root(child) for child in children)
