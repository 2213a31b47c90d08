from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from evalgate.reporting.markdown.build_view import ROW_OVERHEAD, Group, count_chars, fill_groups


class Row(Struct):
    text: str
    more: tuple[str, ...] = ()


def group(count, share, size=40, most=1_000):
    return Group(list(range(count)), lambda number: Row(str(number).ljust(size)), share, most)


def test_weight__row__counts_its_text_and_its_lists():
    assert count_chars(Row("abc", ("d", "e"))) == 3 + 2 * (1 + ROW_OVERHEAD)


def test_share_out__enough_room__shows_everything():
    groups = [group(5, 0.5), group(5, 0.5)]
    fill_groups(groups, 10_000)
    assert [each.build_rows().left for each in groups] == [0, 0]


def test_share_out__too_little_room__keeps_a_share_for_the_least_severe():
    groups = [group(1_000, 0.7), group(1_000, 0.3)]
    fill_groups(groups, 10_000)
    assert [len(each.shown) for each in groups] == [70, 30]


def test_share_out__unused_room__goes_to_the_most_severe_group_first():
    groups = [group(1_000, 0.5), group(1, 0.5), group(1_000, 0.0)]
    fill_groups(groups, 10_000)
    assert [len(each.shown) for each in groups] == [99, 1, 0]


def test_share_out__maximum__is_shown_and_the_rest_counted():
    groups = [group(100, 1.0, most=7)]
    fill_groups(groups, 100_000)
    assert (len(groups[0].build_rows().shown), groups[0].build_rows().left) == (7, 93)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 200)), max_size=5), st.integers(0, 5_000))
def test_share_out__any_groups__never_use_more_than_the_given_room(sizes, room):
    groups = [group(count, 1 / len(sizes), size) for count, size in sizes]
    fill_groups(groups, room)
    assert sum(count_chars(row) + ROW_OVERHEAD for each in groups for row in each.shown) <= room
