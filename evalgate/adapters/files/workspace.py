"""Access to the file system: regular files only, and inside the workspace if one is set."""

# ruff: noqa: PTH112, PTH114, PTH116, PTH118, PTH119
# Paths are strings here: creating a Path per file would cost more than opening it.
from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, BinaryIO

from evalgate.adapters.files.workspace_walk import Glob, Walk, link_error
from evalgate.errors import InvalidInput, Location, OverLimit, Problem, RefusedPath, SettingError
from evalgate.ports import FoundFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_ENTRIES = 20_000
URL = "://"
GIT = ".git"
READ_BUFFER = 1 << 17
OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class Workspace:
    """Files of a job or a shell; implements `Files`.

    With a `root`, paths outside it and symbolic links below it are refused, since a pull request may have
    written that tree. Without one, the user's paths are trusted and links are followed.
    """

    def __init__(
        self,
        root: str | None,
        cwd: str,
        *,
        max_entries: int = MAX_ENTRIES,
        on_open: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._root = None if root is None else os.path.realpath(root)
        self._cwd = os.path.realpath(cwd)
        self._max_entries = max_entries
        self._on_open = on_open  # called with each file that is opened

    def expand(self, pattern: str, base: str = "") -> Sequence[FoundFile]:
        """The matching files, sorted by path, each once; a folder means everything below it.

        What matches and is no file, as a FIFO, is one of them, so that no run is lost: `open` refuses it.

        Relative patterns start from the folder `base`. Raises RefusedPath, OverLimit (too many files) or
        SettingError (invalid pattern).
        """
        _require_plain_text(pattern)
        if URL in pattern:
            hint = "a URL works only with --traces on the command line"
            raise RefusedPath(Problem("this is a URL, not a path", Location(pattern), hint))
        start, glob = Glob.split(pattern)
        target = self._locate(pattern, base)
        has_stars = "*" in pattern or "?" in pattern  # unlike `[`, which also names files as they are
        if has_stars and not os.path.isdir(self._locate(start, base)):
            return []
        found = self._find_named(target, pattern)
        if has_stars or not os.path.lexists(target):  # an entry named like a glob hides no other
            found |= self._walk(self._locate(start, base), glob, pattern)
        return sorted(found.values(), key=lambda file: file.path)

    def _find_named(self, target: str, pattern: str) -> dict[str, FoundFile]:
        """The file whose path the pattern is as it stands, or all below such a folder, by their real paths."""
        if not os.path.lexists(target):
            return {}
        if os.path.isdir(target):
            return self._walk(target, Glob.everything(), pattern)
        single = self._find_single(target, pattern)
        return {single.real: single}

    def _walk(self, folder: str, glob: Glob, pattern: str) -> dict[str, FoundFile]:
        if not os.path.isdir(folder):
            return {}
        walk = Walk(glob, max_entries=self._max_entries, refuse_links=self._root is not None, show=self._show)
        found, shown = {}, dict[str, str]()
        for below, real in walk.files(folder):
            start, _, name = real.rpartition("/")
            if start not in shown:  # that of many files is the same
                shown[start] = self._show(f"{start}/", pattern)
            found[real] = FoundFile(os.path.join(shown[start], name).removeprefix("./"), below, real)
        return found

    def open(self, file: FoundFile) -> BinaryIO:
        """Opens the file as a byte stream; refuses irregular files, and links if there is a root."""
        return self._open(file.real, file.path)

    def size(self, file: FoundFile) -> int:
        """The file's size in bytes; 0 if unknown: reading will then raise the error."""
        try:
            return os.stat(file.real).st_size
        except OSError:
            return 0

    def digest(self, file: FoundFile) -> str:
        """SHA-256 of the file, as it is on disk."""
        digest = hashlib.sha256()
        with self.open(file) as stream:
            try:
                while block := stream.read(READ_BUFFER):
                    digest.update(block)
            except OSError as error:
                raise _unreadable_error(error, file.path, "the file") from None
        return digest.hexdigest()

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        """Reads a whole file of at most `limit` bytes; `what` names it in errors.

        Raises OverLimit, SettingError if it does not exist, or RefusedPath if it may not be read.
        """
        _require_plain_text(path)
        real = self._locate(path, "")
        shown = self._show(real, path)
        with self._open(real, shown, what) as stream:
            try:
                size = min(limit, os.fstat(stream.fileno()).st_size)
                content = stream.read(size + 1)  # not of the limit, which would be allocated
                if size < len(content) <= limit:  # the file grew, or has no size
                    content += stream.read(limit + 1 - len(content))
            except OSError as error:
                raise _unreadable_error(error, shown, what) from None
        if len(content) > limit:
            raise OverLimit(Problem(f"{what} is larger than {limit:,} bytes", Location(shown)))
        return content

    def _locate(self, path: str, base: str) -> str:
        """The absolute path; with a root, `..` is resolved and the path must be inside it."""
        joined = os.path.join(self._cwd, base, path)
        if self._root is None:
            return joined
        real = os.path.normpath(joined)
        here = self._root
        for step in _steps_inside(self._root, real, path):
            here = os.path.join(here, step)
            if os.path.islink(here):
                raise link_error(self._show(here, path))
        return real

    def _find_single(self, real: str, pattern: str) -> FoundFile:
        shown = self._show(real, pattern)
        try:
            mode = os.stat(real).st_mode
        except OSError as error:
            raise _unreadable_error(error, shown, "the file") from None
        if not stat.S_ISREG(mode):
            raise _irregular_error(shown)
        return FoundFile(shown, os.path.basename(real), real)

    def _show(self, real: str, named: str = "") -> str:
        """The path to display: relative, unless it is outside `cwd` and was given as absolute."""
        if real.startswith(_with_slash(self._cwd)) or not named.startswith(os.sep):
            return os.path.relpath(real, self._cwd)
        return real

    def _open(self, real: str, shown: str, what: str = "the file") -> BinaryIO:
        self._on_open(shown)
        try:
            handle = os.open(real, OPEN_FLAGS) if self._root is None else _open_inside(self._root, real, shown)
        except OSError as error:
            if self._root is None and os.path.islink(real) and not isinstance(error, PermissionError):
                raise RefusedPath(
                    Problem("this is a link that leads to no file", Location(shown), "remove it, or mend its target")
                ) from None
            raise _unreadable_error(error, shown, what) from None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise _irregular_error(shown)
        return os.fdopen(handle, "rb", buffering=READ_BUFFER)


def _open_inside(root: str, real: str, shown: str) -> int:
    """Opens each path component in turn without following links, so that none can be inserted meanwhile."""
    steps = _steps_inside(root, real, shown)
    handle = os.open(root, OPEN_FLAGS | os.O_DIRECTORY)
    for number, step in enumerate(steps, 1):
        folder = os.O_DIRECTORY if number < len(steps) else 0
        try:
            deeper = os.open(step, OPEN_FLAGS | os.O_NOFOLLOW | folder, dir_fd=handle)
        finally:
            os.close(handle)
        handle = deeper
    return handle


def _steps_inside(root: str, real: str, shown: str) -> list[str]:
    """The path components below the root. Refuses paths outside it, and `.git`."""
    if real == root:
        return []
    if not real.startswith(_with_slash(root)):
        hint = "only files in the repository can be read"
        raise RefusedPath(Problem("the path points outside the workspace", Location(shown), hint))
    steps = real[len(_with_slash(root)) :].split("/")
    if GIT in map(str.lower, steps):  # a checkout may have left the job's token there; some systems ignore case
        raise RefusedPath(Problem("files in .git are not read", Location(shown)))
    return steps


def _with_slash(folder: str) -> str:
    return folder if folder.endswith("/") else f"{folder}/"


def _unreadable_error(error: OSError, shown: str, what: str) -> InvalidInput:
    location = Location(shown)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return SettingError(Problem(f"{what} does not exist", location))
    if isinstance(error, IsADirectoryError):
        return _irregular_error(shown)
    if isinstance(error, PermissionError):
        return RefusedPath(Problem(f"no permission to read {what}", location, "check its permissions"))
    return RefusedPath(Problem(f"{what} can't be read", location))


def _irregular_error(shown: str) -> RefusedPath:
    return RefusedPath(Problem("this is not a regular file", Location(shown)))


def _require_plain_text(path: str) -> None:
    if not path:
        raise SettingError("the path is empty")
    if not path.isprintable():
        shown = path.encode("unicode_escape").decode("ascii")
        raise RefusedPath(Problem("the path contains characters that can't be printed", Location(shown)))
