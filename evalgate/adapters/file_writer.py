"""Writes to a path: what it names stays what it is, and a file changes as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from evalgate.adapters.signals import hold_signals
from evalgate.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Owner = tuple[int, int]

STDOUT = "-"
_STDOUT_HANDLE = 1
_drafts: set[tuple[int, Path]] = set()
"""Unfinished files, each with the process that writes it."""


@contextmanager
def open_named(path: str, cwd: str, *, is_own: bool = False) -> Iterator[BinaryIO]:
    """Opens a path that a user named in a shell, or `-` for stdout, to be written; raises SettingError.

    With `is_own` EvalGate chose the name, and a link of that name, which a repository may hold, is replaced.
    """
    try:
        with open_stdout() if path == STDOUT else open_to_write(_join(cwd, path), is_own=is_own) as stream:
            yield stream
    except OSError as error:
        raise SettingError(f"can't write {path or repr(path)}: {error.strerror or 'unknown error'}") from None


def make_folder(path: str, cwd: str) -> None:
    """Makes the folder that a user named in a shell, and those above it; raises SettingError."""
    try:
        Path(_join(cwd, path)).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"can't make the folder {path!r}: {error.strerror or 'unknown error'}") from None


@contextmanager
def open_stdout() -> Iterator[BinaryIO]:
    """Opens stdout for bytes; the caller has printed nothing that is not flushed."""
    with open(os.dup(_STDOUT_HANDLE), "wb") as stream:  # noqa: PTH123  (a handle)
        yield stream


@contextmanager
def open_to_write(path: str, *, is_own: bool = False, owner: Owner | None = None) -> Iterator[BinaryIO]:
    """Opens a path to be written; raises OSError.

    A device or FIFO is written to, and the target of a symbolic link. A file is replaced when all is written,
    and keeps its mode and owner; if writing fails, it is as it was. With `is_own`, for EvalGate's own names in
    an output folder, whatever has the name is replaced. `owner` gets the file.
    """
    existing = _find_existing(path, follow_symlinks=not is_own)
    if not is_own and existing is not None:
        if not os.access(path, os.W_OK):
            raise _error(errno.EACCES)
        if not stat.S_ISREG(existing.st_mode):
            with open(os.open(path, os.O_WRONLY), "wb") as stream:  # noqa: PTH123  (a handle; "wb" alone truncates)
                yield stream
            return
    target = Path(path if is_own else os.path.realpath(path))
    with _draft_of(target, is_own=is_own) as draft:
        with draft.open("xb") as stream:
            _adopt(stream.fileno(), existing, owner)
            yield stream
        draft.replace(target)


def replace_files(contents: Mapping[Path, Iterable[bytes]], stale: Iterable[Path], owner: Owner | None = None) -> None:
    """Writes EvalGate's own files and deletes `stale` ones: all of them, or none if it fails or is interrupted.

    All is written before the first change; only a system that then refuses to replace a file leaves some of both.
    `owner` gets the files. Raises OSError, whose `filename` is the path of the file.
    """
    with ExitStack() as unfinished:
        drafts = {}
        for target, parts in contents.items():
            with _name_in_error(target):
                draft = drafts[target] = unfinished.enter_context(_draft_of(target, is_own=True))
                existing = _find_existing(str(target), follow_symlinks=False)
                with draft.open("xb") as stream:
                    _adopt(stream.fileno(), existing, owner)
                    stream.writelines(parts)
        leftover = [path for path in stale if _is_there(path)]
        with hold_signals():
            for path in leftover:
                with _name_in_error(path):
                    path.unlink()
            for target, draft in drafts.items():
                with _name_in_error(target):
                    draft.replace(target)


def _is_there(path: Path) -> bool:
    with _name_in_error(path):
        return _find_existing(str(path), follow_symlinks=False) is not None


@contextmanager
def _name_in_error(target: Path) -> Iterator[None]:
    """Names in an error the file that the user knows, not its draft."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None


def name_draft(name: str) -> str:
    """What a file of EvalGate's own is called until it is finished; a run that was killed leaves it."""
    return f".{name}.part"


@contextmanager
def _draft_of(target: Path, *, is_own: bool) -> Iterator[Path]:
    """The path of an unfinished file beside the target, which is deleted if the block fails."""
    # The name of a user's file may be as long as a name can be.
    draft = target.with_name(name_draft(target.name) if is_own else f".evalgate-{os.urandom(8).hex()}.part")
    if is_own:
        draft.unlink(missing_ok=True)
    unfinished = os.getpid(), draft
    _drafts.add(unfinished)
    try:
        yield draft
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    finally:
        _drafts.discard(unfinished)


def remove_drafts() -> None:
    """Deletes unfinished files, because this process is being ended."""
    for process, draft in tuple(_drafts):
        if process == os.getpid():
            with suppress(OSError):
                draft.unlink()


def _join(folder: str, path: str) -> str:
    """The path below a folder, or as it is; keeps a slash at its end, which pathlib drops."""
    return os.path.join(folder, path) if path else ""  # noqa: PTH118


def _find_existing(path: str, *, follow_symlinks: bool) -> os.stat_result | None:
    """What has this name, None if nothing has; raises OSError for a folder, and for a name that is empty."""
    if not path:
        raise OSError(errno.ENOENT, "the path is empty")
    try:
        found = Path(path).stat(follow_symlinks=follow_symlinks)
    except FileNotFoundError:
        found = None
    if path.endswith("/") or (found is not None and stat.S_ISDIR(found.st_mode)):
        raise _error(errno.EISDIR)
    return found


def _adopt(handle: int, existing: os.stat_result | None, owner: Owner | None) -> None:
    """Gives a new file the mode and the owner of the file that it will replace, or the named owner."""
    if existing is not None and not stat.S_ISREG(existing.st_mode):
        existing = None
    if owner is not None:
        os.fchown(handle, *owner)
    elif existing is not None and hasattr(os, "fchown"):  # not on Windows
        with suppress(PermissionError):  # only root may give a file to somebody else
            os.fchown(handle, existing.st_uid, existing.st_gid)
    if existing is not None and hasattr(os, "fchmod"):
        os.fchmod(handle, stat.S_IMODE(existing.st_mode))


def _error(code: int) -> OSError:
    return OSError(code, os.strerror(code))
