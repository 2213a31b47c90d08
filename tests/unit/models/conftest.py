"""Fixtures of the tests of columns."""

from __future__ import annotations

import pytest

from evalgate.models.run import long_column


@pytest.fixture(scope="module")
def small_pages():
    """Pages of so few numbers that a handful of trials fills several; the size of a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_column, "PAGE", 3)
        yield long_column.PAGE
