"""Files by trial below a folder, which are written and deleted without following a symbolic link."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.adapters.file_writer import open_to_write
from evalgate.errors import Location, Problem, RefusedPath, SettingError
from evalgate.features.record.measures.paths import build_trial_path

if TYPE_CHECKING:
    from evalgate.features.record.models.exchange import TrialId


class TrialFolder:
    """Files at `[<suite>/]<scenario>[@<variant>]/<trial><suffix>` below a folder, which is relative to `cwd`.

    With `is_inside`, the folder must be inside `cwd` and is reached through no link; else the user's path is trusted.
    """

    def __init__(self, cwd: str, folder: str, *, is_inside: bool = False) -> None:
        self._cwd, self._folder = cwd, folder
        self._anchor = cwd if is_inside else os.fspath(Path(cwd, folder))
        self._root = Path(os.path.realpath(self._anchor))

    def path(self, trial: TrialId, suffix: str) -> str:
        """The path of a trial's file, as the folder was named."""
        return f"{self._folder.rstrip('/') or '/'}/{build_trial_path(trial)}{suffix}"

    def exists(self, path: str) -> bool:
        """Whether a path below the folder has a file; raises RefusedPath for one behind a link."""
        return os.path.lexists(self._locate(path))

    def write(self, path: str, content: bytes) -> None:
        """Writes a file as a whole; raises SettingError."""
        place = self._locate(path)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with open_to_write(os.fspath(place)) as stream:
                stream.write(content)
        except OSError as error:
            raise SettingError(f"can't write {path}: {error.strerror or 'unknown error'}") from None

    def remove(self, path: str) -> bool:
        """Deletes a file if it exists, and its folder if that is empty then, and says whether; raises SettingError."""
        place = self._locate(path)
        try:
            if not os.path.lexists(place):
                return False
            place.unlink()
            if not any(place.parent.iterdir()):
                place.parent.rmdir()
        except OSError as error:
            raise SettingError(f"can't delete {path}: {error.strerror or 'unknown error'}") from None
        return True

    def list_siblings(self, path: str) -> list[str]:
        """The paths of the files in the folder of a path, in order; raises RefusedPath."""
        folder, parent = self._locate(path).parent, path.rpartition("/")[0]
        if not folder.is_dir():
            return []
        return sorted(f"{parent}/{each.name}" for each in folder.iterdir() if each.is_file() or each.is_symlink())

    def list_folders(self, below: str) -> list[str]:
        """The names of the folders in one, in order; links are none."""
        folder = self._root / below
        return (
            sorted(each.name for each in folder.iterdir() if each.is_dir() and not each.is_symlink())
            if folder.is_dir()
            else []
        )

    def read(self, path: str) -> bytes:
        """The content of a file; raises SettingError."""
        try:
            return self._locate(path).read_bytes()
        except OSError as error:
            raise SettingError(f"can't read {path}: {error.strerror or 'unknown error'}") from None

    def _locate(self, path: str) -> Path:
        """The place of a path below the folder; raises RefusedPath if it is elsewhere or goes through a link."""
        place = Path(os.path.normpath(self._root / os.path.relpath(Path(self._cwd, path), self._anchor)))
        shown = Location(os.path.relpath(place, os.path.realpath(self._cwd)))
        if not place.is_relative_to(self._root):
            raise RefusedPath(Problem("such files are kept inside the workspace, below the working directory", shown))
        for each in (place, *place.parents):
            if each == self._root:
                break
            if each.is_symlink():
                raise RefusedPath(Problem("such files are not read or written through a symbolic link", shown))
        return place
