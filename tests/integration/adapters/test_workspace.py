from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.errors import OverLimit, RefusedPath, SettingError


@pytest.fixture
def tree(tmp_path):
    """A workspace with a neighbour outside it."""
    root = tmp_path / "work"
    for path in (
        "traces/a.json",
        "traces/b.jsonl",
        "traces/x/c.json",
        "traces/x/y/d.json",
        "traces/.hidden/e.json",
        "traces/.f.json",
        "evals/s.yaml",
        "odd/a[1].json",
        "odd/a1.json",
    ):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.json").write_text("secret")
    return root


def inside(tree, **limits):
    return Workspace(str(tree), str(tree), **limits)


def shell(tree):
    return Workspace(None, str(tree))


def paths(found):
    return [file.path for file in found]


@pytest.mark.parametrize("make", [inside, shell])
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("traces/*.json", ["traces/a.json"]),
        ("traces/*", ["traces/a.json", "traces/b.jsonl"]),
        ("traces/**/*.json", ["traces/a.json", "traces/x/c.json", "traces/x/y/d.json"]),
        ("**/y/**/*.json", ["traces/x/y/d.json"]),
        (
            "**/*/**",
            [
                "evals/s.yaml",
                "odd/a1.json",
                "odd/a[1].json",
                "traces/a.json",
                "traces/b.jsonl",
                "traces/x/c.json",
                "traces/x/y/d.json",
            ],
        ),
        ("traces", ["traces/a.json", "traces/b.jsonl", "traces/x/c.json", "traces/x/y/d.json"]),
        ("traces/", ["traces/a.json", "traces/b.jsonl", "traces/x/c.json", "traces/x/y/d.json"]),
        ("traces/x/**", ["traces/x/c.json", "traces/x/y/d.json"]),
        ("traces/?.json", ["traces/a.json"]),
        ("traces/[ab].*", ["traces/a.json", "traces/b.jsonl"]),
        ("traces/[!a].*", ["traces/b.jsonl"]),
        ("traces/.*/*.json", ["traces/.hidden/e.json"]),
        ("traces/.hidden/*", ["traces/.hidden/e.json"]),
        ("traces/.*.json", ["traces/.f.json"]),
        ("traces/./x/../a.json", ["traces/a.json"]),
        ("traces/a.json", ["traces/a.json"]),
        ("odd/a[1].json", ["odd/a[1].json"]),
        ("nothing/*.json", []),
        ("traces/a.json/*", []),
        ("nothing.json", []),
        ("TRACES/*.json", []),
    ],
)
def test_patterns(tree, make, pattern, expected):
    assert paths(make(tree).expand(pattern)) == expected


@pytest.mark.parametrize("pattern", [".git/config", ".git/*", ".git", "**/.git/*", "sub/../.git/config", ".*/config"])
def test_what_git_keeps_is_not_read_in_a_job(tree, pattern):
    (tree / ".git").mkdir()
    (tree / ".git" / "config").write_text("[http]\nextraheader = AUTHORIZATION: basic c2VjcmV0")
    workspace = inside(tree)
    with pytest.raises(RefusedPath, match="git"):
        [workspace.open(file).close() for file in workspace.expand(pattern)]
    with pytest.raises(RefusedPath, match="git"):
        workspace.read(".git/config", 100, what="suite")
    assert paths(workspace.expand("**/*.yaml")) == ["evals/s.yaml"]


@pytest.mark.parametrize("name", [".GIT", ".Git"])
def test_other_spellings_of_gits_folder_are_not_read_either(tree, name):
    (tree / name).mkdir()  # on a system that ignores case this is the folder itself
    (tree / name / "config").write_text("[http]\nextraheader = AUTHORIZATION: basic c2VjcmV0")
    with pytest.raises(RefusedPath, match="git"):
        inside(tree).read(f"{name}/config", 100, what="suite")


def test_the_part_below_the_fixed_part_is_known(tree):
    found = inside(tree).expand("traces/**/*.json")
    assert [file.below for file in found] == ["a.json", "x/c.json", "x/y/d.json"]
    assert inside(tree).expand("traces/x/c.json")[0].below == "c.json"
    assert inside(tree).expand("traces/x")[0].below == "c.json"


def test_a_pattern_starts_from_its_base(tree):
    assert paths(inside(tree).expand("../traces/*.json", "evals")) == ["traces/a.json"]
    assert paths(Workspace(str(tree), str(tree / "evals")).expand("../traces/*.json")) == ["../traces/a.json"]


def test_absolute_paths_are_fine_inside_the_root_and_anywhere_in_a_shell(tree):
    secret = str(tree.parent / "outside" / "secret.json")
    assert paths(inside(tree).expand(str(tree / "traces/*.json"))) == ["traces/a.json"]
    assert paths(shell(tree).expand(secret)) == [secret]
    assert paths(shell(tree).expand("../outside/*.json")) == ["../outside/secret.json"]


@pytest.mark.parametrize(
    "pattern",
    [
        "../outside/secret.json",
        "../outside/*.json",
        "traces/../../outside/*",
        "/etc/*",
        "/etc/passwd",
        "..",
        "../work2/*",
    ],
)
def test_nothing_outside_the_root_is_found(tree, pattern):
    (tree.parent / "work2").mkdir()
    with pytest.raises(RefusedPath, match="points outside the workspace"):
        inside(tree).expand(pattern)


@pytest.mark.parametrize("pattern", ["traces/*/../a.json", "*/..", "**/a/**/b/**/*.json"])
def test_an_invalid_pattern_is_refused(tree, pattern):
    with pytest.raises(SettingError):
        inside(tree).expand(pattern)


@pytest.mark.parametrize("pattern", ["", "a\nb", "a\x00b", "traces/\x1b*.json", "\udcff.json"])
def test_a_path_of_unprintable_characters_is_refused(tree, pattern):
    with pytest.raises((RefusedPath, SettingError)) as caught:
        inside(tree).expand(pattern)
    assert str(caught.value).isprintable()


def link(tree, name, target):
    (tree / name).symlink_to(target)


@pytest.mark.parametrize(
    ("name", "target", "pattern"),
    [
        ("traces/link.json", "a.json", "traces/*.json"),
        ("traces/link.json", "a.json", "traces/link.json"),
        ("traces/link.json", "../../outside/secret.json", "traces/**/*.json"),
        ("traces/dead.json", "nowhere", "traces/*.json"),
        ("traces/zdir", "../../outside", "traces/**/*.json"),
        ("traces/zdir", "x", "traces/zdir/*.json"),
        ("traces/zdir", "x", "traces/z*/*.json"),
        ("zdir", "traces", "zdir/a.json"),
        ("zdir", "traces", "zdir"),
        ("zdir", "/etc", "zdir/passwd"),
    ],
)
def test_links_below_the_root_are_refused_by_name(tree, name, target, pattern):
    link(tree, name, target)
    with pytest.raises(RefusedPath, match=f"{name.rpartition('/')[2]}: symbolic links are not followed"):
        inside(tree).expand(pattern)


def test_a_link_that_the_pattern_does_not_match_is_ignored(tree):
    link(tree, "traces/link.txt", "../../outside/secret.json")
    link(tree, "traces/.zdir", "../../outside")
    assert len(inside(tree).expand("traces/**/*.json")) == 3
    assert len(inside(tree).expand("traces/*.json")) == 1


def test_links_are_followed_in_a_shell_and_a_file_is_found_once(tree):
    link(tree, "traces/again.json", "a.json")
    link(tree, "traces/loop", "..")
    link(tree, "traces/out", "../../outside")
    found = paths(shell(tree).expand("traces/**/*.json"))
    assert len(found) == len({os.path.realpath(tree / path) for path in found})
    assert "traces/out/secret.json" in found
    assert "traces/a.json" in found
    assert "traces/loop/evals/s.yaml" in paths(shell(tree).expand("traces/**/*.yaml"))


@pytest.mark.parametrize(("name", "target"), [("circle.json", "circle.json"), ("dead.json", "nowhere")])
def test_a_link_to_no_file_is_found_in_a_shell_and_refused_when_it_is_opened(tree, name, target):
    link(tree, f"traces/{name}", target)
    found = {file.path: file for file in shell(tree).expand("traces/*.json")}
    assert list(found) == ["traces/a.json", f"traces/{name}"]
    with pytest.raises(RefusedPath, match=f"{name}: this is a link that leads to no file"):
        shell(tree).open(found[f"traces/{name}"])
    with pytest.raises(RefusedPath, match="symbolic links are not followed"):
        inside(tree).expand("traces/*.json")


def test_an_editors_hidden_link_to_nothing_is_not_found(tree):
    link(tree, "traces/.#a.json", "user@host.123")
    assert paths(shell(tree).expand("traces/*.json")) == ["traces/a.json"]


def test_a_root_that_is_itself_reached_by_a_link_is_fine(tree):
    (tree.parent / "alias").symlink_to(tree)
    alias = str(tree.parent / "alias")
    assert paths(Workspace(alias, alias).expand("traces/*.json")) == ["traces/a.json"]


def test_too_many_entries_are_refused(tree):
    assert inside(tree, max_entries=5).expand("traces/*.json")
    with pytest.raises(OverLimit, match="more than 4 files and folders"):
        inside(tree, max_entries=4).expand("traces/*.json")
    with pytest.raises(OverLimit):
        inside(tree, max_entries=8).expand("**/*.json")


def test_a_name_with_control_characters_is_refused_when_it_matches(tree):
    (tree / "traces" / "a\n::error::b.json").write_text("x")
    with pytest.raises(RefusedPath, match=r"a\\n::error::b.json.*control characters"):
        inside(tree).expand("traces/*.json")
    assert inside(tree).expand("traces/*.jsonl")


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system refuses such names itself")
def test_a_name_that_is_not_utf8_is_refused(tree):
    os.close(os.open(os.fsencode(str(tree / "traces")) + b"/\xff.json", os.O_CREAT))
    with pytest.raises(RefusedPath, match="not UTF-8") as caught:
        inside(tree).expand("traces/*.json")
    str(caught.value).encode()


@pytest.mark.parametrize("make", [inside, shell])
def test_only_regular_files_are_opened(tree, make):
    os.mkfifo(tree / "traces" / "pipe.json")
    with socket.socket(socket.AF_UNIX) as server:
        folder = os.open(tree / "traces", os.O_RDONLY)
        server.bind(f"/proc/self/fd/{folder}/s.json" if sys.platform == "linux" else str(tree / "traces" / "s.json"))
        os.close(folder)
        files = make(tree)
        found = {file.path: file for file in files.expand("traces/*.json")}
        assert list(found) == ["traces/a.json", "traces/pipe.json", "traces/s.json"]
        for name in ("pipe.json", "s.json"):
            with pytest.raises(RefusedPath, match=r"not a regular file|can.t be read"):
                files.open(found[f"traces/{name}"])
            with pytest.raises(RefusedPath, match="not a regular file"):
                files.expand(f"traces/{name}")
    with pytest.raises(RefusedPath):
        files.read("traces/pipe.json", 10, what="the suite")
    with pytest.raises(RefusedPath):
        files.read("traces", 10, what="the suite")


@pytest.mark.parametrize("make", [inside, shell])
def test_a_found_file_opens_as_a_stream(tree, make):
    files = make(tree)
    with files.open(files.expand("traces/x/c.json")[0]) as stream:
        assert stream.read() == b"traces/x/c.json"


def test_a_file_that_becomes_a_link_before_it_is_opened_is_refused(tree):
    files = inside(tree)
    found = files.expand("traces/x/c.json")[0]
    (tree / "traces/x/c.json").unlink()
    link(tree, "traces/x/c.json", tree.parent / "outside" / "secret.json")
    with pytest.raises(RefusedPath):
        files.open(found)


def test_a_folder_that_becomes_a_link_before_its_file_is_opened_is_refused(tree):
    files = inside(tree)
    found = files.expand("traces/x/c.json")[0]
    (tree / "traces/x").rename(tree / "moved")
    link(tree, "traces/x", tree / "moved")
    with pytest.raises((RefusedPath, SettingError)):
        files.open(found)


def test_a_whole_file_is_read_up_to_its_limit(tree):
    files = inside(tree)
    assert files.read("traces/a.json", 13, what="the suite") == b"traces/a.json"
    with pytest.raises(OverLimit, match=r"traces/a\.json: the suite is larger than 12 bytes"):
        files.read("traces/a.json", 12, what="the suite")


def test_a_file_that_is_not_there_is_named(tree):
    with pytest.raises(SettingError, match=r"nope\.json: the baseline does not exist"):
        inside(tree).read("nope.json", 12, what="the baseline")


@pytest.mark.parametrize("path", ["../outside/secret.json", "/etc/passwd", "/proc/self/environ"])
def test_reading_does_not_leave_the_root(tree, path):
    with pytest.raises(RefusedPath, match="points outside the workspace"):
        inside(tree).read(path, 1000, what="the suite")


def open_files():
    return len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0


def test_no_file_stays_open(tree):
    files = inside(tree)
    before = open_files()
    for path in ("traces", "nope.json", "traces/a.json/x"):
        with pytest.raises((RefusedPath, SettingError)):
            files.read(path, 10, what="the suite")
    assert open_files() == before


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that opens and can't be read")
def test_a_file_that_opens_and_can_not_be_read_is_refused(tmp_path):
    with pytest.raises(RefusedPath, match="can't be read"):
        Workspace(None, str(tmp_path)).read("/proc/self/mem", 100, what="baseline")
