"""Looks at the files below the working directory that globs name: no link is followed, no device opened."""

from __future__ import annotations

import hashlib
import os
import re  # noqa: TC003  (the type of a field)
import stat
from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import SettingError
from evalgate.features.record.models.state import SeenFile, StateNotReadError
from evalgate.measures.text.globs import GlobError, compile_path_glob

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 64 * 2**20
"""Bytes of the largest file that is read; of a larger one, size and time show a change."""
LARGEST_TEXT = 64 * 2**10
"""Bytes of the largest file whose text is kept."""
GIT = ".git"
_CHUNK = 2**20
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


class FileBounds(NamedTuple):
    """The most `files` that match, `entries` of folders that are looked at, their `levels`, and `megabytes` read."""

    files: int = 10_000
    entries: int = 100_000
    levels: int = 64
    megabytes: int = 512


class FileGlob(NamedTuple):
    """A glob of paths; `folders` are those that it begins with, `levels` its number of folders, None with `**`."""

    pattern: re.Pattern[str]
    folders: tuple[str, ...]
    levels: int | None

    def may_match_below(self, folder: tuple[str, ...]) -> bool:
        """Whether a file in this folder, or below it, can match; one in `.git` only if the glob names that."""
        shared = min(len(folder), len(self.folders))
        is_near = self.levels is None or len(folder) <= self.levels
        is_open = GIT not in folder[len(self.folders) :]
        return is_near and is_open and folder[:shared] == self.folders[:shared]


BOUNDS = FileBounds()


def parse_globs(text: str) -> list[FileGlob]:
    """The globs of a list with commas; raises SettingError for one that leaves the working directory."""
    return [_parse_glob(each.strip()) for each in text.split(",")]


def _parse_glob(text: str) -> FileGlob:
    parts = text.removeprefix("./").split("/")
    if not all(parts) or ".." in parts or "." in parts:
        raise SettingError(f"--state-files takes globs of paths below the working directory, not {text[:100]!r}")
    fixed = next((at for at, part in enumerate(parts[:-1]) if any(each in part for each in "*?[")), len(parts) - 1)
    try:
        pattern = compile_path_glob("/".join(parts))
    except GlobError as error:
        raise SettingError(f"--state-files: {error}") from None
    return FileGlob(pattern, tuple(parts[:fixed]), None if "**" in parts else len(parts) - 1)


def look_at_files(cwd: str, globs: Sequence[FileGlob], bounds: FileBounds = BOUNDS) -> dict[str, SeenFile]:
    """The files that match, by their path; raises StateNotReadError if some can't be read, or they are too many."""
    found = _Looked(globs, bounds)
    try:
        folder = os.open(cwd, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise StateNotReadError(f"the working directory can't be read: {error.strerror}") from None
    try:
        found.look_into(folder, ())
    finally:
        os.close(folder)
    return dict(sorted(found.files.items()))


class _Looked:
    """What was found so far."""

    def __init__(self, globs: Sequence[FileGlob], bounds: FileBounds) -> None:
        self.files: dict[str, SeenFile] = {}
        self._bounds, self._globs, self._entries, self._bytes = bounds, globs, 0, 0

    def look_into(self, folder: int, parts: tuple[str, ...]) -> None:
        """Looks at the entries of an open folder."""
        if len(parts) > self._bounds.levels:
            raise StateNotReadError(f"`--state-files` meets more than {self._bounds.levels} levels of folders")
        with os.scandir(folder) as listed:
            for entry in listed:
                self._entries += 1
                if self._entries > self._bounds.entries:
                    most = f"{self._bounds.entries:,} files and folders"
                    raise StateNotReadError(f"`--state-files` meets more than {most}")
                self._look_at(folder, (*parts, entry.name))

    def _look_at(self, folder: int, parts: tuple[str, ...]) -> None:
        path = "/".join(parts)
        try:
            path.encode()
            info = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(info.st_mode):
                if any(each.may_match_below(parts) for each in self._globs):
                    self._descend(folder, parts)
            elif any(each.pattern.fullmatch(path) for each in self._globs):
                self._add(path, self._see(folder, parts[-1], info))
        except FileNotFoundError:  # it was there a moment ago
            return
        except UnicodeEncodeError:
            raise StateNotReadError("the name of a file is not UTF-8") from None
        except OSError as error:
            raise StateNotReadError(f"{path[:200]} can't be read: {error.strerror}") from None

    def _descend(self, folder: int, parts: tuple[str, ...]) -> None:
        inner = os.open(parts[-1], os.O_DIRECTORY | _READ, dir_fd=folder)
        try:
            self.look_into(inner, parts)
        finally:
            os.close(inner)

    def _add(self, path: str, seen: SeenFile) -> None:
        self.files[path] = seen
        if len(self.files) > self._bounds.files:
            raise StateNotReadError(f"`--state-files` matches more than {self._bounds.files:,} files")

    def _see(self, folder: int, name: str, info: os.stat_result) -> SeenFile:
        touched = (info.st_mtime_ns, info.st_ino)
        if stat.S_ISLNK(info.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=folder))
            return SeenFile("link", info.st_size, hashlib.sha256(target).hexdigest(), touched)
        if not stat.S_ISREG(info.st_mode):
            own = f"{stat.S_IFMT(info.st_mode)}:{info.st_rdev}"
            return SeenFile("other", 0, hashlib.sha256(own.encode()).hexdigest(), touched)
        if info.st_size > LARGEST:
            return SeenFile("file", info.st_size, None, touched)
        return self._read(folder, name, touched)

    def _read(self, folder: int, name: str, touched: tuple[int, ...]) -> SeenFile:
        """Reads a regular file, or as much of it as is allowed: it may grow meanwhile."""
        opened = os.open(name, _READ, dir_fd=folder)
        digest, content, size = hashlib.sha256(), b"", 0
        with os.fdopen(opened, "rb") as stream:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise StateNotReadError(f"{name[:200]} is no file any more")
            while size <= LARGEST and (chunk := stream.read(_CHUNK)):
                size += len(chunk)
                digest.update(chunk)
                content = content if len(content) > LARGEST_TEXT else content + chunk
        self._bytes += size
        if self._bytes > self._bounds.megabytes * 2**20:
            raise StateNotReadError(f"the files of `--state-files` have more than {self._bounds.megabytes} MB")
        known = digest.hexdigest() if size <= LARGEST else None
        return SeenFile("file", size, known, touched, _decode(content) if size <= LARGEST_TEXT else None)


def _decode(content: bytes) -> str | None:
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None
