"""Checks the store that an input of the Action names: where its file may lie, and what of its URL is secret."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from evalgate.errors import Problem

FILE = re.compile(r"sqlite:(?:///)?", re.IGNORECASE)
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
PASSWORD = re.compile(r"//[^:@/]*:([^@/]+)@|[?&]password=([^&#]+)")
HINT = "write a path relative to RUNNER_TEMP, such as evalgate.db; docs/history.md shows how to cache it between runs"
SHORTEST = 4
"""Minimum characters of a password to mask: shorter ones would make a log unreadable."""


def find_store_path_problem(store_url: str, temp: str, workspace: str) -> Problem | None:
    """The problem with a SQLite file's path; None for one below RUNNER_TEMP, and for a server."""
    is_url = FILE.match(store_url) is not None
    path = unquote(FILE.sub("", store_url, count=1)) if is_url else store_url
    if URL.match(store_url) and not is_url:
        return None
    if not temp:
        return Problem("input `store-url` is a file, and RUNNER_TEMP is not set", hint=HINT)
    full_path = posixpath.normpath(posixpath.join(temp, path))
    if _is_within(full_path, workspace) and not _is_within(temp, workspace):
        return Problem("input `store-url` is a file in the workspace, where a pull request may have put it", hint=HINT)
    if not _is_within(full_path, temp):
        return Problem("input `store-url` is a file outside of RUNNER_TEMP", hint=HINT)
    return None


def find_store_secrets(store_url: str) -> list[str]:
    """The parts of a store's URL to mask in a log: the URL, and its password as written and as decoded."""
    if not URL.match(store_url) or FILE.match(store_url):
        return []
    passwords = [found[1] or found[2] for found in PASSWORD.finditer(store_url)]
    spellings = dict.fromkeys(form for each in passwords for form in (each, unquote(each)))
    return [store_url, *(each for each in spellings if len(each) >= SHORTEST)]


def _is_within(path: str, folder: str) -> bool:
    folder = posixpath.normpath(folder)
    return bool(folder) and path.startswith(f"{folder}/")
