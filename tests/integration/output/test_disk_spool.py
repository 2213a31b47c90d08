"""What is put into a spool is read back, from memory or from its file."""

from __future__ import annotations

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.files.disk_spool import DiskSpool
from evalgate.errors import SettingError


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(0, 200))
def test_every_piece_can_be_read_again_in_any_order(pieces, in_memory):
    spool = DiskSpool(in_memory)
    starts = [spool.put(piece) for piece in pieces]
    found = [spool.get(start, len(piece)) for start, piece in reversed([*zip(starts, pieces, strict=True)])]
    assert found == pieces[::-1]


def test_pieces_from_before_and_after_the_spill_to_disk_are_both_readable(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    spool = DiskSpool(in_memory=10)
    starts = [spool.put(b"%06d" % number) for number in range(100_000)]
    assert [spool.get(start, 6) for start in starts[::9_999]] == [b"%06d" % n for n in range(0, 100_000, 9_999)]
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_reported_in_one_line():
    spool = DiskSpool(in_memory=10)
    spool.put(b"x" * 11)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    try:
        with pytest.raises(SettingError, match="can't write to the folder for temporary files: File too large"):
            spool.put(b"x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
