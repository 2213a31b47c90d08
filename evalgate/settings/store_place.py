"""Where the store of a job may lie: never where a pull request could have put a file of its own."""

from __future__ import annotations

import posixpath
import re

from evalgate.errors import Problem

FILE = re.compile(r"sqlite:(?:///)?", re.IGNORECASE)
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
PASSWORD = re.compile(r"//[^:@/]*:([^@/]+)@")
HINT = "write a path that begins in RUNNER_TEMP, such as evalgate.db; docs/store.md tells how to carry it"
SHORTEST = 4
"""Characters of a password that can be masked without making a log unreadable."""


def misplaced(store_url: str, temp: str, workspace: str) -> Problem | None:
    """What is wrong with where a SQLite file would lie; None for one below RUNNER_TEMP, and for a server."""
    path = FILE.sub("", store_url, count=1)
    if URL.match(path):
        return None
    if not temp:
        return Problem("input `store-url` is a file, and RUNNER_TEMP is not set", hint=HINT)
    whole = posixpath.normpath(posixpath.join(temp, path))
    if _within(whole, workspace) and not _within(temp, workspace):
        return Problem("input `store-url` is a file in the workspace, where anybody may leave one", hint=HINT)
    if not _within(whole, temp):
        return Problem("input `store-url` is a file outside of RUNNER_TEMP", hint=HINT)
    return None


def secrets_in(store_url: str) -> list[str]:
    """What of a store's URL must not be seen in a log: all of it, and its password alone."""
    if not URL.match(store_url) or FILE.match(store_url):
        return []
    found = PASSWORD.search(store_url)
    return [store_url, *([found[1]] if found and len(found[1]) >= SHORTEST else [])]


def _within(path: str, folder: str) -> bool:
    folder = posixpath.normpath(folder)
    return bool(folder) and path.startswith(f"{folder}/")
