from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.providers import FakeProviders

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def fake() -> Iterator[FakeProviders]:
    found = FakeProviders()
    yield found
    found.close()
