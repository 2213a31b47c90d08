"""What a docstring shows in an example is what happens."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOWING = sorted(
    path.relative_to(ROOT) for path in (ROOT / "evalgate").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", SHOWING, ids=str)
def test_the_examples_of_a_module_hold(path):
    module = importlib.import_module(".".join(path.with_suffix("").parts))
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
