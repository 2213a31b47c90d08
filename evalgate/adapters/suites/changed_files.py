"""What to load for the files that a hook names: those that are suites, each with the project that it belongs to."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalgate.adapters.suites import MAX_BYTES, yaml_tree
from evalgate.errors import OverLimit, SettingError, SuiteError
from evalgate.models.results.document_names import PROJECT
from evalgate.suite.parse import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports import Files

SUITE_KEYS = frozenset({"suite", "suites", "scenarios", "goldens"})
OWN_NAME = f".{PROJECT}"
"""The ending of a file that is a suite by its name."""


def group_by_project(files: Files, paths: Sequence[str]) -> dict[str | None, list[str]]:
    """The suites among the files that `paths` match, by the path of their project (None: without one).

    A suite's project is the nearest `evalgate.yaml` in its folder or above, up to the working directory. A project
    file belongs to itself. A file that is no valid YAML counts as a suite, so that loading it reports the error.
    Raises SettingError for a path at which there is no file.
    """
    groups: dict[str | None, list[str]] = {}
    for path in dict.fromkeys(path for each in paths for path in _expand(files, each)):
        if path.endswith(SUFFIXES) and _is_suite(files, path):
            groups.setdefault(_find_project(files, path), []).append(path)
    return groups


def _expand(files: Files, path: str) -> list[str]:
    found = [file.path for file in files.expand(path, ".")]
    if not found:
        raise SettingError(f"no file at {path!r}")
    return found


def _is_suite(files: Files, path: str) -> bool:
    if posixpath.basename(path) == PROJECT or path.endswith(OWN_NAME):
        return True
    try:
        value = yaml_tree.load(files.read(path, MAX_BYTES, what="suite").decode("utf-8-sig"), path).value
    except (SuiteError, UnicodeDecodeError, OverLimit):
        return not path.endswith(".json")
    return isinstance(value, dict) and not SUITE_KEYS.isdisjoint(value)


def _find_project(files: Files, path: str) -> str | None:
    folder = posixpath.dirname(path)
    while not folder.startswith(("/", "..")):
        if files.expand(PROJECT, folder or "."):
            return posixpath.join(folder, PROJECT)
        if not folder:
            break
        folder = posixpath.dirname(folder)
    return None
