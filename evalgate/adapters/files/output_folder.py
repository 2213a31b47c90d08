"""The folder a run leaves its files in."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from evalgate.errors import Problem, RefusedPath, SettingError
from evalgate.models.run.chunks import pieces_of

if TYPE_CHECKING:
    from evalgate.models.run.chunks import Content

BLOCK = 1 << 20


class OutputFolder:
    """Writes our files whole or not at all, and touches nobody else's.

    `folder` starts from `cwd`. With `root` it must lie inside that, and no symbolic link is followed; what is
    written belongs to who owns `root`.
    """

    def __init__(self, folder: str, cwd: str, root: str | None = None) -> None:
        self._folder = Path(cwd) / folder
        self._shown = folder
        self._owner = None if root is None else _owner_of(root)
        if root is not None:
            self._stay_inside(_absolute(Path(root)))

    def path(self, name: str) -> str:
        """Where the file of that name lies; its folder is there."""
        try:
            self._make()
        except OSError as error:
            raise self._refusal(name, error) from None
        return str(self._folder / name)

    def write(self, name: str, content: Content) -> None:
        """Writes one file; a reader sees the old content or the new, never half."""
        target, draft = self._folder / name, self._folder / f".{name}.part"
        try:
            self._make()
            draft.unlink(missing_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as stream:
                stream.writelines(pieces_of(content))
            _hand_over(draft, self._owner)
            draft.replace(target)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise self._refusal(name, error) from None

    def take(self, name: str, handle: int) -> None:
        """Writes one file out of an open one, which is closed."""
        target, draft = self._folder / name, self._folder / f".{name}.part"
        try:
            self._make()
            draft.unlink(missing_ok=True)
            with os.fdopen(handle, "rb") as source, draft.open("xb") as stream:
                while block := source.read(BLOCK):
                    stream.write(block)
            _hand_over(draft, self._owner)
            draft.replace(target)
        except OSError as error:
            raise self._refusal(name, error) from None

    def remove(self, name: str) -> None:
        """Takes away one file of an earlier run, if it is there."""
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise self._refusal(name, error) from None

    def _refusal(self, name: str, error: OSError) -> SettingError:
        reason = f"can't write {self._shown}/{name}: {error.strerror or 'the system refused'}"
        return SettingError(Problem(reason, None, "name another folder with --output-dir"))

    def _make(self) -> None:
        if self._folder.is_dir():
            return
        self._folder.mkdir(parents=True)
        # Results of a run are no source: a new folder of ours ignores itself.
        ignore = self._folder / ".gitignore"
        ignore.write_text("*\n", encoding="utf-8")
        _hand_over(self._folder, self._owner)
        _hand_over(ignore, self._owner)

    def _stay_inside(self, root: Path) -> None:
        absolute = _absolute(self._folder)
        if not absolute.is_relative_to(root) or absolute == root:
            raise RefusedPath(f"the output folder {self._shown!r} does not lie below the workspace")
        step = root
        for part in absolute.relative_to(root).parts:
            step /= part
            if step.is_symlink():
                raise RefusedPath(f"the output folder {self._shown!r} passes a symbolic link")


class NamedFile:
    """One file at a place the user named, inside `root` and through no symbolic link.

    It belongs to who owns `root`, and so do the folders that are made for it.
    """

    def __init__(self, path: str, root: str) -> None:
        self._shown = path
        self._owner = _owner_of(root)
        self._target = _absolute(Path(root) / path)
        self._root = _absolute(Path(root))

    def write(self, content: bytes) -> None:
        """Writes the file whole. Raises RefusedPath, or SettingError where the system refuses."""
        steps = [self._target, *self._target.parents]
        inside = self._target.is_relative_to(self._root) and self._target != self._root
        try:
            if not inside or any(step.is_symlink() for step in steps if step.is_relative_to(self._root)):
                raise RefusedPath(f"{self._shown!r} does not lie inside the workspace without symbolic links")
            new = [folder for folder in self._target.parents if not folder.exists()]
            self._target.parent.mkdir(parents=True, exist_ok=True)
            self._target.write_bytes(content)
            for each in (self._target, *new):
                _hand_over(each, self._owner)
        except OSError as error:
            raise SettingError(f"can't write {self._shown}: {error.strerror or 'refused'}") from None


class LineFile:
    """A file that is written line by line, at a place a person named in a shell; whole or not at all."""

    def __init__(self, path: str, cwd: str) -> None:
        self._shown = path
        self._target = Path(cwd) / path
        self._draft = self._target.with_name(f".{self._target.name}.part")

    def __enter__(self) -> Self:
        try:
            self._draft.unlink(missing_ok=True)
            self._stream = self._draft.open("xb")
        except OSError as error:
            raise self._refusal(error) from None
        return self

    def write(self, line: bytes) -> None:
        """Adds one line; raises SettingError where the system refuses."""
        try:
            self._stream.write(line)
        except OSError as error:
            raise self._refusal(error) from None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._stream.close()
            if kind is None:
                self._draft.replace(self._target)
            else:
                self._draft.unlink(missing_ok=True)
        except OSError as error:
            raise self._refusal(error) from None

    def _refusal(self, error: OSError) -> SettingError:
        return SettingError(f"can't write {self._shown}: {error.strerror or 'the system refused'}")


def _owner_of(root: str) -> tuple[int, int] | None:
    """User and group of a folder that somebody else owns and root writes to, so that they can clean up."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not Path(root).is_dir():
        return None
    found = Path(root).stat()
    return found.st_uid, found.st_gid


def _hand_over(path: Path, owner: tuple[int, int] | None) -> None:
    if owner is not None:
        os.chown(path, *owner, follow_symlinks=False)


def is_folder(path: str, cwd: str) -> bool:
    """Whether a path that a person named means a folder: one that is there, or one that ends like one."""
    return path.endswith("/") or (Path(cwd) / path).is_dir()


def _absolute(path: Path) -> Path:
    """Without `..`, but with links as they are: resolve() would follow those that must be refused."""
    return Path(os.path.abspath(path))  # noqa: PTH100
