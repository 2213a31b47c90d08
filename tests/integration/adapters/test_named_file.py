from __future__ import annotations

import os

import pytest

from evalgate.adapters.files.output_folder import NamedFile
from evalgate.errors import RefusedPath, SettingError


def test_a_file_is_written_below_the_root_with_its_folders(tmp_path):
    NamedFile("reports/junit.xml", str(tmp_path)).write(b"<x/>")
    assert (tmp_path / "reports/junit.xml").read_bytes() == b"<x/>"


@pytest.mark.parametrize("path", ["../junit.xml", "/tmp/elsewhere.xml", ".", "a/../.."])
def test_a_file_outside_the_root_is_refused(tmp_path, path):
    with pytest.raises(RefusedPath):
        NamedFile(path, str(tmp_path / "root")).write(b"x")


@pytest.mark.parametrize("link", ["link/junit.xml", "file.xml"])
def test_a_symbolic_link_on_the_way_is_refused(tmp_path, link):
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "root/link").symlink_to(tmp_path / "outside")
    (tmp_path / "root/file.xml").symlink_to(tmp_path / "outside/file.xml")
    with pytest.raises(RefusedPath):
        NamedFile(link, str(tmp_path / "root")).write(b"x")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_folder_in_its_place_is_invalid_input(tmp_path):
    (tmp_path / "junit.xml").mkdir()
    with pytest.raises(SettingError, match="can't write"):
        NamedFile("junit.xml", str(tmp_path)).write(b"x")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write for somebody else")
def test_what_root_writes_belongs_to_the_owner_of_the_root(tmp_path):
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path, 1001, 1002)
    NamedFile("theirs/a/b/junit.xml", str(tmp_path)).write(b"<x/>")
    written = [tmp_path / "theirs" / path for path in ("a", "a/b", "a/b/junit.xml")]
    assert {(path.stat().st_uid, path.stat().st_gid) for path in written} == {(1001, 1002)}
    assert (tmp_path / "theirs").stat().st_uid == 0
