"""Writes a run's files: in its output folder, or at paths that the user named."""

from __future__ import annotations

import errno
import os
import posixpath
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.adapters.file_writer import name_draft, open_to_write, replace_files
from evalgate.errors import Problem, RefusedPath, SettingError
from evalgate.models.run.chunks import iter_chunks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from evalgate.models.run.chunks import Content

BLOCK = 1 << 20


class OutputFolder:
    """Writes EvalGate's files atomically and touches no other files.

    `folder` is relative to `cwd`. With `root` it must be inside that folder, no symbolic link is followed,
    and written files get the owner of `root`.
    """

    def __init__(self, folder: str, cwd: str, root: str | None = None) -> None:
        self._cwd = Path(cwd)
        self._folder = self._cwd / folder
        self._shown = folder
        self._owner = None if root is None else _owner_of(root)
        if root is not None:
            self._require_inside(_absolute(Path(root)))

    def require_writable(self) -> None:
        """Raises SettingError if the folder can't be written; creates nothing."""
        try:
            nearest = next(each for each in (self._folder, *self._folder.parents) if each.exists())
            if not nearest.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            if not os.access(nearest, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            raise self._refusal("", error) from None

    def holds(self, name: str, path: str) -> bool:
        """Whether a path of the user is this file of the folder, also through a link."""
        try:
            return (self._folder / name).samefile(self._cwd / path)
        except (OSError, ValueError):
            return False

    def path(self, name: str) -> str:
        """The path of a file; creates its folder."""
        try:
            self._make_folder()
        except OSError as error:
            raise self._refusal(name, error) from None
        return str(self._folder / name)

    def write(self, name: str, content: Content) -> None:
        """Writes one file; a reader sees the old content or the new, never a part."""
        self._write_one(name, iter_chunks(content))

    def replace_all(self, contents: Mapping[str, Content], stale: Collection[str]) -> None:
        """Writes several files and deletes `stale` ones; if that fails or is interrupted, all are as they were."""
        try:
            self._make_folder()
        except OSError as error:
            raise self._refusal("", error) from None
        files = {self._folder / name: iter_chunks(content) for name, content in contents.items()}
        try:
            replace_files(files, [self._folder / name for name in stale], self._owner)
        except OSError as error:
            raise self._refusal(Path(error.filename).name, error) from None

    def copy_from_handle(self, name: str, handle: int) -> None:
        """Copies an open file to a file of that name, and closes it."""
        with os.fdopen(handle, "rb") as source:
            self._write_one(name, iter(partial(source.read, BLOCK), b""))

    def _write_one(self, name: str, parts: Iterable[bytes]) -> None:
        try:
            self._make_folder()
            with open_to_write(str(self._folder / name), is_own=True, owner=self._owner) as stream:
                stream.writelines(parts)
        except OSError as error:
            raise self._refusal(name, error) from None

    def remove_drafts(self, names: Iterable[str]) -> None:
        """Deletes what a run that was killed left of these files."""
        for name in map(name_draft, names):
            try:
                (self._folder / name).unlink(missing_ok=True)
            except OSError as error:
                raise self._refusal(name, error) from None

    def _refusal(self, name: str, error: OSError) -> SettingError:
        reason = f"can't write {posixpath.join(self._shown, name)}: {error.strerror or 'unknown error'}"
        return SettingError(Problem(reason, None, "choose another folder with --output-dir"))

    def _make_folder(self) -> None:
        if self._folder.is_dir():
            return
        self._folder.mkdir(parents=True)
        # Results are not to be committed: a new output folder ignores itself.
        ignore = self._folder / ".gitignore"
        ignore.write_text("*\n", encoding="utf-8")
        _change_owner(self._folder, self._owner)
        _change_owner(ignore, self._owner)

    def _require_inside(self, root: Path) -> None:
        absolute = _absolute(self._folder)
        if not absolute.is_relative_to(root) or absolute == root:
            raise RefusedPath(f"the output folder {self._shown!r} is not inside the workspace")
        step = root
        for part in absolute.relative_to(root).parts:
            step /= part
            if step.is_symlink():
                raise RefusedPath(f"the output folder {self._shown!r} goes through a symbolic link")


class NamedFile:
    """A file at a path the user named, inside `root` and through no symbolic link.

    The file and the folders created for it get the owner of `root`.
    """

    def __init__(self, path: str, root: str) -> None:
        self._shown = path
        self._owner = _owner_of(root)
        self._target = _absolute(Path(root) / path)
        self._root = _absolute(Path(root))

    def write(self, content: bytes) -> None:
        """Writes the file. Raises RefusedPath, or SettingError if writing fails."""
        steps = [self._target, *self._target.parents]
        inside = self._target.is_relative_to(self._root) and self._target != self._root
        try:
            if not inside or any(step.is_symlink() for step in steps if step.is_relative_to(self._root)):
                raise RefusedPath(f"{self._shown!r} must be inside the workspace, without symbolic links")
            if self._target.exists() and not self._target.is_file() and not self._target.is_dir():
                raise RefusedPath(f"{self._shown!r} is a device or a pipe, which could block the job")
            new = [folder for folder in self._target.parents if not folder.exists()]
            self._target.parent.mkdir(parents=True, exist_ok=True)
            for folder in new:
                _change_owner(folder, self._owner)
            with open_to_write(str(self._target), owner=self._owner) as stream:
                stream.write(content)
        except OSError as error:
            raise SettingError(f"can't write {self._shown}: {error.strerror or 'refused'}") from None


def _owner_of(root: str) -> tuple[int, int] | None:
    """User and group of the folder if this process is root, so that the owner can delete what it writes."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not Path(root).is_dir():
        return None
    found = Path(root).stat()
    return found.st_uid, found.st_gid


def _change_owner(path: Path, owner: tuple[int, int] | None) -> None:
    if owner is not None:
        os.chown(path, *owner, follow_symlinks=False)


def is_folder(path: str, cwd: str) -> bool:
    """Whether a named path is a folder: an existing one, or one that ends in a slash."""
    return path.endswith("/") or (path != "" and os.path.isdir(Path(cwd) / path))  # noqa: PTH112  (never raises)


def _absolute(path: Path) -> Path:
    """Resolves `..` but not links: resolve() would follow links that must be refused."""
    return Path(os.path.abspath(path))  # noqa: PTH100
