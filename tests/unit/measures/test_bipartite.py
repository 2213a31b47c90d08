from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.sequences.bipartite import LOOKUPS_PER_COMPARISON, BipartiteMatching, WorkBudget

EDGES = st.lists(st.frozensets(st.integers(0, 5)), max_size=6)


def largest(edges):
    """Tries every order of the right nodes: slow and obviously correct."""
    best = 0
    for rights in permutations(range(6)):
        free, pairs = set(rights), 0
        for left, right in zip(range(len(edges)), rights, strict=False):
            if right in edges[left] and right in free:
                pairs += 1
        best = max(best, pairs)
    return best


def match(edges, order, *, by_kind=True):
    kinds = list(dict.fromkeys(edges))
    wants = kinds if by_kind else edges
    pairs = BipartiteMatching(lambda _: range(6), lambda kind, right: right in wants[kind])
    for left in order:
        before = set(pairs.lefts_of)
        pairs.add(left, kinds.index(edges[left]) if by_kind else left)
        assert before <= {right for right, lefts in pairs.lefts_of.items() if lefts}, "what is matched stays"
    return pairs


@given(EDGES, st.randoms())
def test_matching__is_as_large_as_can_be_in_every_order(edges, random):
    order = random.sample(range(len(edges)), len(edges))
    expected = largest(edges)
    for by_kind in (True, False):
        pairs = match(edges, order, by_kind=by_kind)
        assert len(pairs) == expected
        assert all(right in edges[left] for left, right in pairs.right_of.items())
        assert {right: [left] for left, right in pairs.right_of.items()} == {
            right: list(lefts) for right, lefts in pairs.lefts_of.items()
        }


def test_matching__reassigns_a_partner_that_another_needs():
    edges = [frozenset({0, 1}), frozenset({0})]
    assert match(edges, [0, 1]).right_of == {0: 1, 1: 0}


def test_matching__along_a_path_of_ten_thousand_needs_no_recursion():
    size = 10_000
    pairs = BipartiteMatching(lambda left: (left, left + 1) if left < size else (0,), lambda *_: True)
    assert all(pairs.add(left, left) for left in range(size + 1))
    assert pairs.right_of[size] == 0
    assert not pairs.add(size + 1, size + 1)


@given(EDGES, st.lists(st.integers(1, 2), min_size=3, max_size=3), st.randoms())
def test_right_node_with_several_slots__equals_several_right_nodes(edges, room, random):
    apart = [right for right in range(3) for _ in range(room[right])]
    edges = [frozenset(right for right in edge if right < 3) for edge in edges]
    split = [frozenset(at for at, right in enumerate(apart) if right in edge) for edge in edges]
    pairs = BipartiteMatching(lambda _: range(3), lambda left, right: right in edges[left], dict(enumerate(room)))
    for left in random.sample(range(len(edges)), len(edges)):
        pairs.add(left, left)
    assert len(pairs) == largest(split)
    assert all(len(lefts) <= room[right] for right, lefts in pairs.lefts_of.items())


def test_matching__ends_when_its_work_budget_runs_out():
    asked = []
    size, effort = 1_000, WorkBudget(100)
    pairs = BipartiteMatching(lambda _: range(size), lambda *pair: asked.append(pair), budget=effort)
    assert not any(pairs.add(left, left) for left in range(size))
    assert effort.ran_out
    assert len(asked) <= 2 * 100 * LOOKUPS_PER_COMPARISON + size
