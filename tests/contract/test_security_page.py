"""Every threat that docs/security.md names has a test that exists."""

from __future__ import annotations

import ast
import re

import pytest
from documents import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (T\d\d) \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE)
ACCEPTED = "accepted"


def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_threat_has_a_row():
    assert [number for number, _ in ROWS] == [f"T{number:02}" for number in range(1, 38)]


@pytest.mark.parametrize(("threat", "cell"), ROWS, ids=[number for number, _ in ROWS])
def test_its_tests_are_there(threat, cell):
    if cell == ACCEPTED:
        return
    named = re.findall(r"`(tests/\S+\.py)::(test_\w+)`", cell)
    assert named, f"{threat} names no test"
    assert [f"{file}::{test}" for file, test in named if test not in functions_of(file)] == []
