from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from evalgate.adapters.archives.report_zip import LARGEST_PACKED, ReportZips
from evalgate.errors import OverLimit, SettingError


@pytest.fixture
def zips(tmp_path):
    return ReportZips(tmp_path)


def test_what_is_packed_is_unpacked(zips):
    assert zips.unpack(zips.pack(b'{"a": 1}')) == b'{"a": 1}'


def test_the_same_results_make_the_same_bytes(tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    first, second = (Path(ReportZips(folder).pack(b"{}")).read_bytes() for folder in folders)
    assert first == second


def test_other_members_are_ignored(zips, tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil", "x")
        archive.writestr("comment.md", "# mine")
        archive.writestr("results.json", "{}")
    assert zips.unpack(str(path)) == b"{}"
    assert sorted(tmp_path.rglob("evil")) == []
    assert [folder for folder in (tmp_path, *tmp_path.parents) if (folder / "evil").exists()] == []


def test_a_file_beyond_bounds_is_refused_before_it_is_read_as_a_zip(zips, tmp_path):
    path = tmp_path / "x.zip"
    with path.open("wb") as file:
        file.truncate(LARGEST_PACKED + 1)
    with pytest.raises(OverLimit, match="larger than 32 MB"):
        zips.unpack(str(path))


def test_a_file_that_is_not_a_zip_is_refused(zips, tmp_path):
    path = tmp_path / "x.zip"
    path.write_bytes(b"{}")
    with pytest.raises(SettingError, match="not a zip file"):
        zips.unpack(str(path))
