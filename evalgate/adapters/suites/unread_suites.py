"""Finds files that look like suites and are not read: their ending is another than that of the glob beside them."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from evalgate.errors import InvalidInput, Location, Problem
from evalgate.measures.values.json_values import mark_name
from evalgate.models.results.document_names import PROJECT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalgate.ports import Files

ENDINGS = (".yaml", ".yml", ".json", ".YAML", ".YML", ".JSON")
KEY = rb'(?m)(?:^|[{,])\s*"?(?:suite|scenarios)"?\s*:'
"""What a suite written as YAML or JSON contains."""
OTHERS = frozenset({"traces", "goldens", "format", "defaults"})
"""Keys that a suite has beside its name, and a golden or a trace with a field `suite` has not."""
MAX_BYTES = 200_000
MAX_READ = 200
"""Files that are opened to find out whether they are suites."""
MAX_FOUND = 20


def find_unread_suites(files: Files, globs: Sequence[tuple[str, str]], read: Collection[str]) -> list[Problem]:
    """Warnings about files beside those that the globs (each with its folder) find, in which a suite is written."""
    paths = dict.fromkeys(path for glob, folder in globs for path in _iter_others(files, glob, folder, read))
    unread = [path for path in list(paths)[:MAX_READ] if _is_suite(files, path)]
    return [_build_warning(path) for path in unread[:MAX_FOUND]]


def _iter_others(files: Files, glob: str, folder: str, read: Collection[str]) -> Iterator[str]:
    """The files with another ending; those of one named file only if it is the project's."""
    stem, ending = posixpath.splitext(glob)
    if ending not in ENDINGS or not ("*" in stem or posixpath.basename(glob) == PROJECT):
        return
    for other in ENDINGS:
        for file in files.expand(f"{stem}{other}", folder) if other != ending else ():
            if file.path not in read:
                yield file.path


def _is_suite(files: Files, path: str) -> bool:
    """Whether a file is a project file by its name, or YAML or JSON with the keys of a suite."""
    if posixpath.splitext(posixpath.basename(path))[0] == posixpath.splitext(PROJECT)[0]:
        return True
    from evalgate.adapters.suites import yaml_tree

    try:
        content = files.read(path, MAX_BYTES, what="suite")
        if not re.search(KEY, content):
            return False
        value = yaml_tree.load(content.decode("utf-8-sig"), path).value
    except (InvalidInput, UnicodeDecodeError):
        return False
    return isinstance(value, dict) and ("scenarios" in value or ("suite" in value and not OTHERS.isdisjoint(value)))


def _build_warning(path: str) -> Problem:
    message = f"{mark_name(posixpath.basename(path))} looks like a suite and is not read"
    hint = "rename it so that a glob finds it, or list it under `suites`"
    return Problem(message, Location(path), hint, "suite_not_read")
