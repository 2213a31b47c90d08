"""Files that `--state-files` names: no link is followed, no device opened, and everything is bounded."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from evalgate.errors import SettingError
from evalgate.features.record.adapters.state.files import LARGEST_TEXT, FileBounds, look_at_files, parse_globs
from evalgate.features.record.models.state import SeenFile, StateNotReadError

if TYPE_CHECKING:
    from pathlib import Path


def look(folder: Path, globs: str = "**") -> dict[str, SeenFile]:
    return look_at_files(str(folder), parse_globs(globs))


def write(folder: Path, *paths: str, content: bytes = b"text") -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        ("**", ["a.sql", "out/b.txt", "out/deep/er/c.sql", "src/d.py"]),
        ("*.sql", ["a.sql"]),
        ("out/**", ["out/b.txt", "out/deep/er/c.sql"]),
        ("**/*.sql", ["a.sql", "out/deep/er/c.sql"]),
        ("out/*", ["out/b.txt"]),
        ("./out/b.txt, src/?.py", ["out/b.txt", "src/d.py"]),
        ("missing/**", []),
        (".git/**", [".git/hooks/pre-commit"]),
        ("sub/.git/*", ["sub/.git/x"]),
    ],
)
def test_files_are_those_that_a_glob_matches(tmp_path: Path, globs: str, expected: list[str]) -> None:
    write(tmp_path, "src/d.py", "out/deep/er/c.sql", "out/b.txt", "a.sql", ".git/hooks/pre-commit", "sub/.git/x")
    assert [*look(tmp_path, globs)] == expected


@pytest.mark.parametrize("glob", ["/etc/*", "../x", "a/../../b", "a//b", "", "a,,b", "./../a", "**/**/**/a"])
def test_a_glob_that_leaves_the_folder_is_refused(glob: str) -> None:
    with pytest.raises(SettingError, match="--state-files"):
        parse_globs(glob)


def test_a_file_has_its_digest_and_short_text(tmp_path: Path) -> None:
    write(tmp_path, "a", content=b"one\n")
    write(tmp_path, "binary", content=b"\0\1")
    write(tmp_path, "latin", content=b"\xe9")
    write(tmp_path, "long", content=b"x" * (LARGEST_TEXT + 1))
    found = look(tmp_path)
    assert (found["a"].digest, found["a"].text) == (hashlib.sha256(b"one\n").hexdigest(), "one\n")
    assert [found[name].text for name in ("binary", "latin", "long")] == [None, None, None]
    assert found["long"].digest == hashlib.sha256(b"x" * (LARGEST_TEXT + 1)).hexdigest()


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    write(outside, "secret", content=b"hidden")
    inside.mkdir()
    (inside / "file").symlink_to(outside / "secret")
    (inside / "folder").symlink_to(outside, target_is_directory=True)
    (inside / "loop").symlink_to(".", target_is_directory=True)
    found = look(inside)
    assert [*found] == ["file", "folder", "loop"]
    assert {each.kind for each in found.values()} == {"link"}
    assert all(each.text is None for each in found.values())
    (inside / "file").unlink()
    (inside / "file").symlink_to(outside / "other")
    assert look(inside)["file"].digest != found["file"].digest


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = look(tmp_path)
    assert found["pipe"].kind == "other"
    (tmp_path / "pipe").unlink()
    write(tmp_path, "pipe")
    assert look(tmp_path)["pipe"].digest != found["pipe"].digest


def test_two_gigabytes_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(2 * 2**30)
    found = look(tmp_path)["large"]
    assert (found.size, found.digest, found.text) == (2 * 2**30, None, None)
    os.utime(tmp_path / "large", ns=(5, 5))
    assert look(tmp_path)["large"].touched != found.touched


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        (FileBounds(files=2), "matches more than 2 files"),
        (FileBounds(entries=3), "meets more than 3 files and folders"),
        (FileBounds(levels=0), "more than 0 levels of folders"),
        (FileBounds(megabytes=0), "have more than 0 MB"),
    ],
)
def test_more_than_a_bound_is_a_problem_and_never_a_part(tmp_path: Path, bounds: FileBounds, reason: str) -> None:
    write(tmp_path, "a", "b", "c", "d/e")
    with pytest.raises(StateNotReadError, match=reason):
        look_at_files(str(tmp_path), parse_globs("**"), bounds)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_can_not_be_read_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, "a")
    (tmp_path / "a").chmod(0)
    with pytest.raises(StateNotReadError, match="a can't be read: Permission denied"):
        look(tmp_path)


def test_a_name_that_is_no_text_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, os.fsdecode(b"a\xff"))
    with pytest.raises(StateNotReadError, match="not UTF-8"):
        look(tmp_path)


def test_a_folder_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(StateNotReadError, match="the working directory can't be read"):
        look(tmp_path / "gone")
