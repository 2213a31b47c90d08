"""The folder of a run is removed, whatever a hostile judge has left in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalgate.bootstrap.private_temp_dir import private_temp_dir

DEPTH = 1_500


def link_to_a_folder(folder, elsewhere):
    (folder / "link").symlink_to(elsewhere)


def link_to_nothing(folder, elsewhere):
    (folder / "link").symlink_to(elsewhere / "absent")


def pipe(folder, elsewhere):
    os.mkfifo(folder / "pipe")


def name_that_is_no_text(folder, elsewhere):
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).write_text("x")


def deeper_than_a_path_can_be(folder, elsewhere):
    above = os.open(folder, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("deeper", dir_fd=above)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=above))
    os.close(above)


LEAVINGS = [link_to_a_folder, link_to_nothing, pipe, name_that_is_no_text, deeper_than_a_path_can_be]


@pytest.mark.parametrize("leave", LEAVINGS)
def test_the_folder_is_removed_and_nothing_else_is(tmp_path, leave):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("of others")
    temp = tmp_path / "temp"
    temp.mkdir()
    with private_temp_dir(str(temp)) as folder:
        Path(folder, "judge-1").mkdir()
        leave(Path(folder, "judge-1"), elsewhere)
    assert list(temp.iterdir()) == []
    assert (elsewhere / "kept").read_text() == "of others"


def test_a_folder_that_can_not_be_removed_is_not_an_error(tmp_path):
    with private_temp_dir(str(tmp_path)) as folder:
        Path(folder).rmdir()
        Path(folder).write_text("a file now")
    assert Path(folder).read_text() == "a file now"


def test_it_is_accessible_to_its_owner_only(tmp_path):
    with private_temp_dir(str(tmp_path)) as folder:
        assert Path(folder).stat().st_mode & 0o777 == 0o700
