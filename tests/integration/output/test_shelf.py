"""What is put on a shelf comes back, from memory or from its file."""

from __future__ import annotations

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.files.disk_spool import DiskSpool
from evalgate.errors import SettingError


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(0, 200))
def test_every_piece_can_be_had_again_in_any_order(pieces, in_memory):
    shelf = DiskSpool(in_memory)
    starts = [shelf.put(piece) for piece in pieces]
    found = [shelf.get(start, len(piece)) for start, piece in reversed([*zip(starts, pieces, strict=True)])]
    assert found == pieces[::-1]


def test_pieces_of_before_and_after_the_file_began_are_both_there(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    shelf = DiskSpool(in_memory=10)
    starts = [shelf.put(b"%06d" % number) for number in range(100_000)]
    assert [shelf.get(start, 6) for start in starts[::9_999]] == [b"%06d" % n for n in range(0, 100_000, 9_999)]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_room_is_told_in_a_line():
    shelf = DiskSpool(in_memory=10)
    shelf.put(b"x" * 11)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    try:
        with pytest.raises(SettingError, match="temporary files can't take"):
            shelf.put(b"x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
