"""What tests of columns share."""

from __future__ import annotations

import pytest

from evalgate.models.run import long_column


@pytest.fixture(scope="module")
def small_pages():
    """Pages of so few figures that a handful of trials fills several; how many that are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_column, "PAGE", 3)
        yield long_column.PAGE
