"""Finds files that look like suites and are not read, and project files whose rules are left out."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from evalgate.errors import InvalidInput, Location, Problem
from evalgate.measures.values.json_values import mark_name
from evalgate.models.results.document_names import PROJECT
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.suite_file import ProjectFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalgate.adapters.suites.yaml_tree import YamlDocument
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
NO_RULES = frozenset({"version", "suites", "redact", "store", "schema_url", "$schema"})
"""Keys of a project file that decide nothing about a suite's verdict."""


def find_unread_suites(
    files: Files, globs: Sequence[tuple[str, str]], read: Collection[str], folders: Sequence[str] = ()
) -> list[Problem]:
    """Warnings about files in which a suite is written: beside those that the globs (each with its folder) find.

    `folders` are those whose suites a project lists: there each file may be a suite that its list leaves out.
    """
    paths = dict.fromkeys(path for glob, folder in globs for path in _iter_others(files, glob, folder))
    paths |= dict.fromkeys(
        each.path for folder in folders for end in ENDINGS for each in files.expand(f"*{end}", folder)
    )
    unread = [path for path in [each for each in paths if each not in read][:MAX_READ] if _is_suite(files, path)]
    return [_build_warning(path) for path in unread[:MAX_FOUND]]


def _iter_others(files: Files, glob: str, folder: str) -> Iterator[str]:
    """The files with another ending; those of one named file only if it is the project's."""
    stem, ending = posixpath.splitext(glob)
    if ending not in ENDINGS or not ("*" in stem or posixpath.basename(glob) == PROJECT):
        return
    for other in ENDINGS:
        for file in files.expand(f"{stem}{other}", folder) if other != ending else ():
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


def list_project_paths(read: Collection[str]) -> list[str]:
    """Where a project file of these suites may be: the working directory and the folders above them."""
    folders = {""}
    for path in read:
        while (path := posixpath.dirname(path)) not in folders:
            folders.add(path)
    return [posixpath.join(folder, PROJECT) for folder in sorted(folders)]


def find_left_out_rules(files: Files, projects: Sequence[YamlDocument], read: Collection[str]) -> list[Problem]:
    """A warning about each project file that has rules for suites that were read without it."""
    return [each for project in projects for each in _find_of_project(files, project, read)]


def _find_of_project(files: Files, project: YamlDocument, read: Collection[str]) -> Iterator[Problem]:
    if all(key in NO_RULES or not value for key, value in project.value.items()):
        return
    covered = _list_covered(files, project)
    left_out = [path for path in read if covered is None or path in covered]
    if left_out:
        more = f" and {len(left_out) - 1:,} more" if len(left_out) > 1 else ""
        message = f"{mark_name(project.file)} has rules for {mark_name(left_out[0])}{more}, which are left out"
        hint = f"name it in place of the suites: {mark_name(f'evalgate run {project.file}')}"
        yield Problem(message, Location(project.file), hint, "rules_left_out")


def _list_covered(files: Files, project: YamlDocument) -> set[str] | None:
    """The paths of a project's suites; None if it has errors, as it may be meant for each."""
    parsed = Diagnostics().read_model(project, ProjectFile)
    if parsed is None:
        return None
    try:
        folder = posixpath.dirname(project.file) or "."
        return {file.path for glob in parsed.suites for file in files.expand(glob, folder)}
    except InvalidInput:
        return None
