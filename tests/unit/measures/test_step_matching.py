from itertools import combinations, permutations, product

from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.sequences import step_matching
from evalgate.measures.sequences.bipartite import WorkBudget
from evalgate.measures.sequences.step_matching import (
    Slot,
    StepPlan,
    align_bag,
    align_in_order,
    fits_as_bag,
    fits_exactly,
    fits_in_order,
)

KINDS = ["a", "b", "ab", "abc"]


class Names:
    """Calls that are letters; a kind is the letters it accepts."""

    def __init__(self, names):
        self.names = names
        self.count = len(names)
        self.budget = WorkBudget(10**9)

    def candidates(self, kind):
        return range(self.count)

    def accepts(self, kind, at):
        return self.names[at] in KINDS[kind]


SLOTS = st.builds(Slot, st.integers(0, 3), st.booleans())
PLANS = st.lists(st.lists(SLOTS, min_size=1, max_size=3), max_size=4)
CALLS = st.text("abcx", max_size=6).map(Names)


def plan_of(groups):
    slots = [slot for group in groups for slot in group]
    numbers = iter(range(len(slots)))
    return StepPlan(slots, [[next(numbers) for _ in group] for group in groups])


def demands(groups):
    """Every ordered list of kinds that the plan accepts, found by exhaustive search."""
    for chosen in product(*(map(list, ways(group)) for group in groups)):
        yield [kind for part in chosen for kind in part]


def ways(group):
    needed = [slot.kind for slot in group if not slot.optional]
    spare = [slot.kind for slot in group if slot.optional]
    for size in range(len(spare) + 1):
        for more in combinations(spare, size):
            yield from permutations([*needed, *more])


def is_right(kinds, names):
    return len(kinds) == len(names) and all(name in KINDS[kind] for kind, name in zip(kinds, names, strict=True))


SMALL = PLANS.filter(lambda groups: sum(map(len, groups)) <= 6)


@given(SMALL, CALLS)
def test_exact__equals_an_exhaustive_search(groups, calls):
    assert fits_exactly(plan_of(groups), calls) == any(is_right(kinds, calls.names) for kinds in demands(groups))


@given(SMALL, CALLS)
def test_in_order__equals_an_exhaustive_search(groups, calls):
    assert fits_in_order(plan_of(groups), calls) == any(
        is_right(kinds, chosen) for kinds in demands(groups) for chosen in combinations(calls.names, len(kinds))
    )


@given(st.lists(SLOTS, max_size=5), st.text("abcx", max_size=4).map(Names), st.booleans())
def test_any_order__equals_an_exhaustive_search(slots, calls, closed):
    expected = any(
        is_right(kinds, chosen)
        for kinds in demands([slots])
        for chosen in combinations(calls.names, len(kinds))
        if not closed or len(chosen) == calls.count
    )
    assert fits_as_bag(plan_of([[slot] for slot in slots]), calls, closed=closed) == expected


@given(PLANS, CALLS)
def test_exact_implies_in_order_implies_any_order(groups, calls):
    plan = plan_of(groups)
    if fits_exactly(plan, calls):
        assert fits_in_order(plan, calls)
        assert fits_as_bag(plan, calls, closed=True)
    if fits_in_order(plan, calls):
        assert fits_as_bag(plan, calls, closed=False)


@given(PLANS, CALLS, st.randoms())
def test_order_of_unordered_steps__never_matters(groups, calls, random):
    plan, mixed = plan_of(groups), plan_of([random.sample(group, len(group)) for group in groups])
    assert fits_exactly(plan, calls) == fits_exactly(mixed, calls)
    assert fits_in_order(plan, calls) == fits_in_order(mixed, calls)
    anywhere = plan_of(random.sample(groups, len(groups)))
    for closed in (True, False):
        assert fits_as_bag(plan, calls, closed=closed) == fits_as_bag(anywhere, calls, closed=closed)


@given(PLANS, CALLS)
def test_alignment__accounts_for_every_required_step_and_every_call_once(groups, calls):
    plan = plan_of(groups)
    for align in (align_bag, align_in_order):
        found = align(plan, calls)
        pairs = {slot: at for slot, at in found.rows if slot is not None and at is not None}
        assert sorted([*pairs.values(), *found.extra]) == list(range(calls.count))
        assert sorted(found.missing) == plan.required_slots(set(range(len(plan.slots))) - pairs.keys())
        assert all(calls.accepts(plan.slots[slot].kind, at) for slot, at in pairs.items())
        assert sorted(at for _, at in found.rows if at is not None) == list(range(calls.count))


@given(PLANS, CALLS)
def test_alignment__shows_something_wrong_exactly_where_the_verdict_is_failed(groups, calls):
    plan = plan_of(groups)
    bag, ordered = align_bag(plan, calls), align_in_order(plan, calls)
    assert (not bag.missing) == fits_as_bag(plan, calls, closed=False)
    assert (not bag.missing and not bag.extra) == fits_as_bag(plan, calls, closed=True)
    if not fits_in_order(plan, calls):
        assert ordered.missing
    if not fits_exactly(plan, calls):
        assert ordered.missing or ordered.extra


def test_alignment_in_order__calls_as_little_missing_as_it_can():
    plan = plan_of([[Slot(1)], [Slot(0)], [Slot(3)]])
    assert align_in_order(plan, Names("acb")).missing == [0]


def test_alignment_in_order__shows_calls_in_their_order():
    plan = plan_of([[Slot(0)], [Slot(1)], [Slot(0, optional=True)]])
    assert align_in_order(plan, Names("xacx")).rows == [(None, 0), (0, 1), (1, None), (None, 2), (None, 3)]


def test_alignment_in_order__of_a_group_takes_its_members_as_they_come():
    plan = plan_of([[Slot(0), Slot(1)], [Slot(0)]])
    found = align_in_order(plan, Names("bax"))
    assert (found.rows, found.missing) == ([(1, 0), (0, 1), (2, None), (None, 2)], [2])


def test_alignment_in_order__of_more_than_can_be_compared_whole_still_ends():
    size = step_matching.MAX_CELLS // 300 + 1
    plan = plan_of([[Slot(1)], *[[Slot(0)]] * size])
    found = align_in_order(plan, Names("x" + "a" * 300 + "x"))
    assert len(found.missing) == size + 1 - 300
