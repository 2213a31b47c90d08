"""A part that no reader knows makes the evidence of calls incomplete, in every format."""

from __future__ import annotations

import pytest

from evalgate.adapters.formats.open.detect import FORMATS
from evalgate.models.trace.trace import Trace
from hostile.recorded_calls import read
from hostile.unknown_parts import Edit, list_edited, list_edits, list_places

WITHOUT_TRACES = {"adk-evalset"}
"""A file of expectations is refused."""


def test_every_format_gets_a_part() -> None:
    assert list_places().keys() == {form.name for form in FORMATS} - WITHOUT_TRACES


@pytest.mark.parametrize("edit", list(list_edits()), ids="-".join)
def test_an_unknown_part_is_a_gap_or_an_error(edit: Edit) -> None:
    files = list(list_edited(edit))
    assert files
    for content in files:
        records = read(content)
        silent = [one for one in records if isinstance(one, Trace) and "calls" not in one.gaps]
        assert records
        assert len(silent) < len(records), edit
