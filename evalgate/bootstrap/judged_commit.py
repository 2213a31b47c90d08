"""The commit that a shell judges, and its branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def find_commit_and_branch(flag: str | None, environ: Mapping[str, str], cwd: str) -> tuple[str | None, str | None]:
    """They are of the flag, else of the runner's variables, else of the git repository; None where none names one."""
    from evalgate.adapters.files.git_head import read_git_head

    head = read_git_head(cwd)
    if flag:
        flag = flag.encode("utf-8", "replace").decode()  # no document can hold bytes that are no text
    return flag or environ.get("GITHUB_SHA") or head.commit, environ.get("GITHUB_REF_NAME") or head.branch
