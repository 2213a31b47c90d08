"""What git knows of a person's folder: files that it has, or that differ, and their name. Never for the gate."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEAD = "HEAD"
LONGEST = 30
"""Seconds that git may take."""
SAFE = ("-c", "core.fsmonitor=false", "--no-optional-locks", "--literal-pathspecs")
"""Nothing that a repository configures is started."""


def find_changed_files(folder: str, cwd: str, since: str | None, environ: Mapping[str, str]) -> frozenset[str] | None:
    """Paths from `cwd` of the files of a folder that are new or differ from a commit, or from where a branch began.

    None where nothing can be known: without git, a repository, or a commit. Raises SettingError if `since` names none.
    """
    commit = _run(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{since or HEAD}^{{commit}}"], cwd, environ)
    if commit is None:
        if since is None:
            return None
        hint = "name a commit or branch that this repository has; in CI, fetch it first"
        raise SettingError(Problem(f"git knows no commit {since[:100]!r}", None, hint))
    begin = _run(["merge-base", commit.strip(), HEAD], cwd, environ) or commit
    changed = _run(
        ["diff", "--name-only", "-z", "--relative", "--no-ext-diff", "--no-renames", begin.strip(), "--", folder],
        cwd,
        environ,
    )
    added = _run(["ls-files", "-z", "--others", "--exclude-standard", "--", folder], cwd, environ)
    if changed is None or added is None:
        return None
    return frozenset(filter(None, [*changed.split("\0"), *added.split("\0")]))


def has_files(paths: Sequence[str], cwd: str, environ: Mapping[str, str]) -> bool:
    """Whether git has each of these files, or a file below each of these folders."""
    return bool(paths) and all(_run(["ls-files", "-z", "--", path], cwd, environ) for path in paths)


def find_user_name(cwd: str, environ: Mapping[str, str]) -> str | None:
    """The name with which git signs commits in a folder; None without git or a name."""
    found = _run(["config", "user.name"], cwd, environ)
    return found.strip() or None if found else None


def _run(words: list[str], cwd: str, environ: Mapping[str, str]) -> str | None:
    """What git prints; None if it fails."""
    kept = {name: environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if name in environ}
    try:
        done = subprocess.run(  # noqa: S603  (the words are checked)
            ["git", *SAFE, *words],  # noqa: S607  (the user's git)
            cwd=cwd,
            env={**kept, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LONGEST,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None
