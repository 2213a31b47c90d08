"""A run's private temporary folder, removed at the end whatever a judge left in it."""

from __future__ import annotations

import os
from collections import deque
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_in_use: set[Path] = set()
HERE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def folder_of_our_own(temp: str) -> Iterator[str]:
    """A new folder below `temp`; avoids `tempfile`, which is slow to import.

    Files that can't be removed stay: they are no reason to lose a verdict.
    """
    parent = Path(temp) if temp and Path(temp).is_dir() else Path("/tmp")  # noqa: S108  (new, private and of a random name)
    folder = parent / f"evalgate-{os.urandom(8).hex()}"
    folder.mkdir(mode=0o700)
    _in_use.add(folder)
    try:
        yield str(folder)
    finally:
        _remove(folder)


def remove_all() -> None:
    """Removes all folders still in use, because this process is being ended."""
    for folder in tuple(_in_use):
        _remove(folder)


def _remove(folder: Path) -> None:
    with suppress(OSError):
        _empty(folder)
        folder.rmdir()
    _in_use.discard(folder)


def _empty(folder: Path) -> None:
    """Follows no links; moves nested folders up instead of recursing, so that any depth works."""
    top = os.open(folder, HERE)
    try:
        folders = deque(_without_files(top))
        count = 0
        while folders:
            name = folders.popleft()
            with suppress(OSError):
                inner = os.open(name, HERE, dir_fd=top)
                try:
                    for below in _without_files(inner):
                        count += 1
                        raised = f"{folder.name}-{count}"
                        os.rename(below, raised, src_dir_fd=inner, dst_dir_fd=top)
                        folders.append(raised)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


def _without_files(handle: int) -> list[str]:
    """Removes all files and links; returns the names of the folders."""
    folders = []
    with os.scandir(handle) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=handle)
    return folders
