"""Examples in docstrings give the results they show."""

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
def test_docstring_examples_give_the_results_they_show(path):
    module = importlib.import_module(".".join(path.with_suffix("").parts))
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
