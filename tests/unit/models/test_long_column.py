"""A number keeps its position, in memory or in the spool."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.models.run import long_column
from evalgate.models.run.long_column import LongColumn
from evalgate.models.run.spool import MemorySpool

pytestmark = pytest.mark.usefixtures("small_pages")


@given(st.data())
def test_a_number_keeps_its_position_whatever_goes_to_the_spool(data):
    spool = MemorySpool()
    figures, values = LongColumn(spool, "q"), []
    for added, is_full in data.draw(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=6)):
        spool.put(b"of somebody else")
        new = list(range(len(values), len(values) + added))
        values += new
        figures.recent.extend(new)
        if is_full:
            figures.spill()
            assert len(figures.recent) < long_column.PAGE
    start, end = data.draw(st.tuples(*[st.integers(0, len(values))] * 2))
    order = data.draw(st.permutations(values))
    assert list(figures.get_many(order)) == [figures[place] for place in order] == order
    assert list(figures.get_many(range(start, end))) == values[start:end]
    assert list(figures.get_many(range(start, end, 2))) == values[start:end:2]
    figures.arrange(order)
    assert [list(figures.get_many(range(len(order)))), list(figures.recent)] == [order, order]
