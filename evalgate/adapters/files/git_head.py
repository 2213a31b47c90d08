"""Commit and branch that are judged, and those of a folder's git repository from its files; git itself is not run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"ref: (refs/[^\s\0\\:?*\[~^]{1,1000})")
_HEADS = "refs/heads/"
_MAX_LINKS = 5
"""How many refs may name another one."""
_MAX_BYTES, _MAX_PACKED = 4_096, 64_000_000


class GitHead(NamedTuple):
    """The commit that is checked out and its branch; None where unknown."""

    commit: str | None = None
    branch: str | None = None


def find_commit_and_branch(flag: str | None, environ: Mapping[str, str], cwd: str) -> tuple[str | None, str | None]:
    """They are of the flag, else of the runner's variables, else of the git repository; None where none names one."""
    head = read_git_head(cwd)
    if flag:
        flag = flag.encode("utf-8", "replace").decode()  # no document can hold bytes that are no text
    return flag or environ.get("GITHUB_SHA") or head.commit, environ.get("GITHUB_REF_NAME") or head.branch


def read_git_head(folder: str) -> GitHead:
    """Commit and branch of the repository that a folder is in; both None without one that can be read."""
    try:
        git_dir = _find_git_dir(Path(folder))
        return GitHead() if git_dir is None else _read_head(git_dir)
    except (OSError, ValueError):
        return GitHead()


def _find_git_dir(folder: Path) -> Path | None:
    """The `.git` of the folder or of the nearest one above; a file there names another folder."""
    place = next((each / ".git" for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    if place is None or place.is_dir():
        return place
    key, _, path = _read_line(place).partition(": ")
    return place.parent / path if key == "gitdir" and path else None


def _read_head(git_dir: Path) -> GitHead:
    common = git_dir / _read_line(git_dir / "commondir")
    line = _read_line(git_dir / "HEAD")
    first = _REF.fullmatch(line)
    branch = first[1].removeprefix(_HEADS) if first is not None and first[1].startswith(_HEADS) else None
    if branch == ".invalid":  # the refs are in a table
        return GitHead()
    for _ in range(_MAX_LINKS):
        ref = _REF.fullmatch(line)
        if ref is None:
            break
        line = "" if ".." in ref[1] else _read_ref(common, ref[1])
    return GitHead(line if SHA.fullmatch(line) else None, branch)


def _read_ref(common: Path, name: str) -> str:
    """The content of a ref, in its file or among the packed ones; empty if it has none."""
    loose = _read_line(common / name)
    if loose:
        return loose
    packed = common / "packed-refs"
    if not packed.is_file() or packed.stat().st_size > _MAX_PACKED:
        return ""
    with packed.open(encoding="utf-8") as lines:
        return next((line[: -len(name) - 2] for line in lines if line.endswith(f" {name}\n")), "")


def _read_line(path: Path) -> str:
    """The first line of a short file; empty if it is no file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(_MAX_BYTES).partition(b"\n")[0].decode().rstrip("\r")
