"""Writes what `init` makes: the suite, the workflow, the hook and a line of .gitignore. Never overwrites unasked."""

from __future__ import annotations

import difflib
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.errors import Problem, SettingError
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOOK = ".pre-commit-config.yaml"
IGNORE = ".gitignore"
SUFFIXES = (".yaml", ".yml")
HOOK_TEXT = f"""repos:
  - repo: https://github.com/org/evalgate
    rev: v{__version__}
    hooks:
      - id: evalgate-validate
"""


class NewFile(Struct, frozen=True):
    """A file to write: its path from the working directory and its text; `adds` if it may exist.

    `note` is what a person should know of it.
    """

    path: str
    text: str
    adds: bool = False
    note: str = ""


def refuse_suite_path(path: str) -> None:
    """Raises SettingError unless this can be the path of a suite: printable, and with the ending of YAML."""
    if not path.isprintable():
        raise SettingError(f"--out can't be {path!r}: it has a character that does not print")
    if not path.endswith(SUFFIXES):
        raise SettingError(Problem(f"--out can't be {path!r}", None, "a suite is a file such as evals/support.yaml"))


def build_ignore(cwd: str, folder: str) -> NewFile | None:
    """A .gitignore with the folder of the traces; None if it has it, or without git."""
    root = Path(cwd)
    line = f"/{folder}/"
    if not (root / ".git").exists():
        return None
    path = root / IGNORE
    text = path.read_text(encoding="utf-8", errors="surrogateescape") if path.is_file() else ""
    if {line, folder, f"{folder}/", f"/{folder}"}.intersection(text.split("\n")):
        return None
    text += ("" if text.endswith("\n") or not text else "\n") + f"{line}\n"
    note = f"git ignores {folder}/ now, since recordings may hold personal data; to commit them, remove the line"
    return NewFile(IGNORE, text, adds=True, note=note)


def refuse_existing(new: Sequence[NewFile], cwd: str) -> None:
    """Raises SettingError naming the files that exist already."""
    existing = [each.path for each in new if not each.adds and os.path.lexists(Path(cwd, each.path))]
    if existing:
        message = f"{', '.join(existing)} {'exists' if len(existing) == 1 else 'exist'} already"
        raise SettingError(Problem(message, None, "--force overwrites, --out writes to another file"))


def refuse_links(new: Sequence[NewFile], cwd: str) -> None:
    """Raises SettingError if a link in the project, which a repository may hold, leads one of these files out of it."""
    root = Path(cwd).resolve()
    for each in new:
        if not Path(cwd, each.path).resolve().is_relative_to(root):
            raise SettingError(f"{each.path} is not written: a link in its path leads out of this folder")


def write_files(new: Sequence[NewFile], cwd: str) -> None:
    """Writes all files or none, and makes their folders. Raises SettingError."""
    from evalgate.adapters.file_writer import open_named

    made: list[Path] = []
    try:
        with ExitStack() as stack:  # each file gets its name when the stack ends
            for each in new:
                made += _make_folders(Path(cwd, each.path).parent, each.path)
                file = stack.enter_context(open_named(each.path, cwd))
                file.write(each.text.encode("utf-8", "surrogateescape"))
                file.flush()
    except SettingError:
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        raise


def _make_folders(folder: Path, path: str) -> list[Path]:
    """Makes a folder and those above it; returns those that are new, the outer ones first."""
    missing = [each for each in (*reversed(folder.parents), folder) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"can't make the folder of {path}: {error.strerror or 'unknown error'}") from None
    return missing


def diff_files(new: Sequence[NewFile], cwd: str) -> Iterator[str]:
    """What writing the files would change, as a unified diff."""
    for each in new:
        path = Path(cwd, each.path)
        current = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
        name = each.path if path.is_file() else "/dev/null"
        yield from difflib.unified_diff(current, each.text.splitlines(), name, each.path, lineterm="")
