"""Damaged traces: any place of a document removed, or replaced with anything."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import strategies as st

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)  # a decoder turns longer ones into floats
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
ANYTHING = st.recursive(
    LEAVES
    | st.sampled_from([[], {}, "", -1, 1e300, 10**18, "{", "[[", "[1]", "{'a':", "user", "assistant"])
    | st.sampled_from(["0001-01-01T00:00:00+23:59", "2026-01-01T00:00:00"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def nest_lists(depth):
    """Lists in lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def places(value, above=()):
    """Every place of a document, as the keys that lead to it."""
    yield above
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*above, key))


def damage_document(document):
    """A strategy: copies of the document with up to three places replaced or removed; its format stays recognizable."""
    known = [place for place in places(document) if place]
    change = st.tuples(st.sampled_from(known), st.none() | st.tuples(ANYTHING))
    return st.lists(change, min_size=1, max_size=3).map(lambda changes: apply_changes(document, changes))


def apply_changes(document, changes):
    """The document with each place removed (None) or replaced (by the only item of a tuple)."""
    copy = deepcopy(document)
    for place, instead in changes:
        *way, last = place
        try:
            node = copy
            for key in way:
                node = node[key]
            if isinstance(node, dict) is not isinstance(last, str):
                continue  # a number is not a JSON key
            if instead is None:
                del node[last]
            else:
                node[last] = instead[0]
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change removed this place
    return copy
