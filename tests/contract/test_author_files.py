"""What an author adds for an evaluator or a format: few files, and the tests that ask for its facts pass with them."""

from __future__ import annotations

import pytest
from behaviour import author_files
from documents import ROOT

MOST_FILES = 4


@pytest.mark.parametrize("kind", author_files.KINDS)
def test_each_place_that_an_author_edits_is_there(kind: str) -> None:
    edits, _ = author_files.KINDS[kind]
    places = {each.path: each.anchor for each in edits if each.anchor}
    assert {path for path, anchor in places.items() if anchor not in (ROOT / path).read_text(encoding="utf-8")} == set()
    assert sum(author_files.is_counted(each.path) for each in edits) <= MOST_FILES


@pytest.mark.matrix
@pytest.mark.parametrize("kind", author_files.KINDS)
def test_the_tests_pass_with_what_an_author_adds(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert author_files.main([kind]) == 0, capsys.readouterr().out
