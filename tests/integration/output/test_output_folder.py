import os
import resource
import stat
import subprocess
import sys

import pytest

from evalgate.adapters.files.output_folder import NamedFile, OutputFolder
from evalgate.errors import RefusedPath, SettingError


def test_new_folder__ignores_itself_and_an_old_one_is_left_alone(tmp_path):
    OutputFolder("new", str(tmp_path)).write("results.json", b"{}")
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "theirs").write_text("kept")
    OutputFolder("old", str(tmp_path)).write("results.json", b"{}")
    assert sorted(path.name for path in (tmp_path / "old").iterdir()) == ["results.json", "theirs"]


def test_write__replaces_the_whole_file(tmp_path):
    folder = OutputFolder("out", str(tmp_path))
    folder.write("a", b"long content")
    folder.write("a", b"new")
    assert (tmp_path / "out" / "a").read_bytes() == b"new"


def test_write__replaces_a_link_instead_of_following_it(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "theirs").write_text("kept")
    (tmp_path / "out" / "a").symlink_to(tmp_path / "theirs")
    OutputFolder("out", str(tmp_path)).write("a", b"new")
    assert (tmp_path / "theirs").read_text() == "kept"


@pytest.mark.parametrize("folder", ["../out", "/tmp/elsewhere", ".", "link/out", "link"])
def test_with_a_root__nothing_is_written_outside_or_through_links(tmp_path, folder):
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(RefusedPath):
        OutputFolder(folder, str(root), str(root))


def test_a_workspace_that_is_itself_a_link__is_fine(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "work").symlink_to(tmp_path / "real")
    OutputFolder("out", str(tmp_path / "work"), str(tmp_path / "work")).write("a", b"x")
    assert (tmp_path / "real" / "out" / "a").read_bytes() == b"x"


def test_a_folder_that_can_not_be_written__is_a_setting_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="--output-dir"):
        OutputFolder("file/out", str(tmp_path)).path("a")


@pytest.mark.parametrize("path", ["../a.xml", "/tmp/a.xml", "link/a.xml", "."])
def test_named_file__stays_inside(tmp_path, path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path)
    with pytest.raises(RefusedPath):
        NamedFile(path, str(tmp_path / "root")).write(b"")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write for somebody else")
def test_with_a_root_of_another_owner__what_root_writes_is_theirs(tmp_path):
    os.chown(tmp_path, 1001, 1002)
    folder = OutputFolder(".evalgate", str(tmp_path), str(tmp_path))
    folder.write("results.json", b"{}")
    written = [tmp_path / ".evalgate", *(tmp_path / ".evalgate").iterdir()]
    assert {path.name for path in written} == {".evalgate", ".gitignore", "results.json"}
    assert {(path.stat().st_uid, path.stat().st_gid) for path in written} == {(1001, 1002)}


@pytest.mark.parametrize("path", ["x" * 300, "x/" * 3_000 + "y", "a" * 300 + "/b.xml"])
def test_an_invalid_file_name__is_refused_with_the_reason(tmp_path, path):
    with pytest.raises(SettingError, match="File name too long"):
        NamedFile(path, str(tmp_path)).write(b"")
    with pytest.raises(SettingError, match="File name too long"):
        OutputFolder(path, str(tmp_path)).write("a", b"")


def write_with_small_files(program, *words):
    """Runs a program that writes 1,000 bytes in a process whose files may have 100."""
    return subprocess.run(
        [sys.executable, "-B", "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )


WRITE_NAMED = """
import sys
from evalgate.adapters.files.output_folder import NamedFile
from evalgate.errors import SettingError
try:
    NamedFile("a.xml", sys.argv[1]).write(b"x" * 1000)
except SettingError as error:
    print(error)
"""
WRITE_IN_FOLDER = WRITE_NAMED.replace("NamedFile", "OutputFolder").replace(
    'OutputFolder("a.xml", sys.argv[1]).write(', 'OutputFolder(".", sys.argv[1]).write("a.xml", '
)


@pytest.mark.parametrize("program", [WRITE_NAMED, WRITE_IN_FOLDER])
@pytest.mark.parametrize("exists", [True, False])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, program, exists):
    if exists:
        (tmp_path / "a.xml").write_text("old")
    done = write_with_small_files(program, tmp_path)
    assert "File too large" in done.stdout, done.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == ({"a.xml": "old"} if exists else {})


@pytest.mark.parametrize("write", [NamedFile, OutputFolder], ids=["named file", "output folder"])
def test_a_file_keeps_its_mode(tmp_path, write):
    path = tmp_path / "a.xml"
    path.write_text("old")
    path.chmod(0o640)
    if write is NamedFile:
        NamedFile("a.xml", str(tmp_path)).write(b"new")
    else:
        OutputFolder(".", str(tmp_path)).write("a.xml", b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)


WITHOUT_OWNERS = """
import os, sys
del os.fchown, os.fchmod, os.chown, os.geteuid
from evalgate.adapters.files.output_folder import OutputFolder
for content in (b"old", b"new"):
    OutputFolder("out", sys.argv[1], sys.argv[1]).replace_all({"a": content}, ["b"])
"""


def test_files_are_replaced_where_the_system_knows_no_owners(tmp_path):
    subprocess.run([sys.executable, "-B", "-c", WITHOUT_OWNERS, str(tmp_path)], check=True)
    assert (tmp_path / "out/a").read_bytes() == b"new"


def test_named_file__a_fifo_is_refused_since_it_may_have_no_reader(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(RefusedPath, match="'fifo' is a device or a pipe"):
        NamedFile("fifo", str(tmp_path)).write(b"content")
    assert (tmp_path / "fifo").is_fifo()
