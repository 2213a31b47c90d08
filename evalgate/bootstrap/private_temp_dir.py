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
OPEN_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def private_temp_dir(temp: str) -> Iterator[str]:
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
        _remove_content(folder)
        folder.rmdir()
    _in_use.discard(folder)


def _remove_content(folder: Path) -> None:
    """Follows no links; moves nested folders up instead of recursing, so that any depth works."""
    top = os.open(folder, OPEN_FOLDER_FLAGS)
    try:
        folders = deque(_remove_files(top))
        count = 0
        while folders:
            name = folders.popleft()
            with suppress(OSError):
                inner = os.open(name, OPEN_FOLDER_FLAGS, dir_fd=top)
                try:
                    for child in _remove_files(inner):
                        count += 1
                        new_name = f"{folder.name}-{count}"
                        os.rename(child, new_name, src_dir_fd=inner, dst_dir_fd=top)
                        folders.append(new_name)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


def _remove_files(handle: int) -> list[str]:
    """Removes all files and links; returns the names of the folders."""
    folders = []
    with os.scandir(handle) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=handle)
    return folders
