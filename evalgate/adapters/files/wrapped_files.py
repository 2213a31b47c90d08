"""Files with a cache that measures how much has been read, and files at URLs (`s3://`, `gs://` ...) through fsspec."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from evalgate.errors import Location, OverLimit, Problem, RefusedPath, SettingError
from evalgate.ports import FoundFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports import Files


class CachedFiles:
    """Wraps `Files` and expands each pattern only once; also knows how much has been read."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Sequence[FoundFile]] = {}
        self._sizes: dict[str, int] = {}
        self._read = 0
        self._current: tuple[str, BinaryIO] | None = None

    def expand(self, pattern: str, base: str) -> Sequence[FoundFile]:
        """The matching regular files, as first found."""
        key = pattern, base
        if key not in self._found:
            self._found[key] = self._files.expand(pattern, base)
        return self._found[key]

    def open(self, file: FoundFile) -> BinaryIO:
        """Opens the file as a byte stream."""
        if self._current is not None and self._current[0] != file.real:
            self._read += self._sizes.get(self._current[0], 0)
        stream = self._files.open(file)
        self._current = file.real, stream
        return stream

    def read_fraction(self) -> float | None:
        """The fraction of the found bytes that has been read, None before the first read."""
        for found in self._found.values():
            for file in found:
                if file.real not in self._sizes:
                    self._sizes[file.real] = self._files.size(file)
        total = sum(self._sizes.values())
        if not total or self._current is None:
            return None
        name, stream = self._current
        current_bytes = self._sizes.get(name, 0) if stream.closed else stream.tell()
        return min(1.0, (self._read + current_bytes) / total)

    def size(self, file: FoundFile) -> int:
        """The file's size on disk in bytes."""
        return self._files.size(file)

    def digest(self, file: FoundFile) -> str:
        """SHA-256 of the file."""
        return self._files.digest(file)

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        """Reads a whole file."""
        return self._files.read(path, limit, what=what)


URL = "://"
TAGS = ("ETag", "etag", "md5Hash")
"""What stores call the tag that changes with the content of a file."""
MAX_ENTRIES = 1_000_000
HINT = "install evalgate-action[dask] and the fsspec package for this kind of URL (s3fs, gcsfs, ...)"


class RemoteFiles:
    """Local files and, by URL, remote ones; implements `Files`. Only for a shell, where users are trusted."""

    def __init__(self, local_files: Files) -> None:
        self._local_files = local_files
        self._sizes: dict[str, int] = {}
        self._tags: dict[str, str] = {}

    def expand(self, pattern: str, base: str) -> Sequence[FoundFile]:
        """The matching files, sorted by path."""
        if URL not in pattern:
            return self._local_files.expand(pattern, base)
        scheme, _, rest = pattern.partition(URL)
        store = self._store(scheme, pattern)
        try:
            glob_pattern = f"{rest.rstrip('/')}/**" if store.isdir(rest) else rest
            found = store.glob(glob_pattern, detail=True)
        except Exception as error:  # noqa: BLE001  (each file system raises other errors)
            raise _unreadable_error(pattern, error) from None
        if len(found) > MAX_ENTRIES:
            raise OverLimit(Problem(f"more than {MAX_ENTRIES:,} files", Location(pattern)))
        files = []
        for name, details in found.items():
            if details.get("type") == "file":
                url = f"{scheme}{URL}{name}"
                self._sizes[url] = int(details.get("size") or 0)
                self._tags[url] = next((str(details[name]) for name in TAGS if details.get(name)), "")
                files.append(FoundFile(url, _relative_path(name, _fixed_part(glob_pattern)), url))
        return sorted(files)

    def open(self, file: FoundFile) -> BinaryIO:
        """Opens the file as a byte stream."""
        scheme, mark, rest = file.real.partition(URL)
        if not mark:
            return self._local_files.open(file)
        try:
            return cast("BinaryIO", self._store(scheme, file.path).open(rest, "rb"))
        except Exception as error:  # noqa: BLE001  (each file system raises other errors)
            raise _unreadable_error(file.path, error) from None

    def size(self, file: FoundFile) -> int:
        """The file's size in bytes; of a remote file, the size when it was found."""
        return self._sizes.get(file.real, 0) if URL in file.real else self._local_files.size(file)

    def digest(self, file: FoundFile) -> str:
        """SHA-256 of the file; of a remote one, which is not read for it, that of its size and tag."""
        if URL not in file.real:
            return self._local_files.digest(file)
        return hashlib.sha256(f"{self.size(file)} {self._tags.get(file.real, '')}".encode()).hexdigest()

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        """Reads a whole local file."""
        return self._local_files.read(path, limit, what=what)

    def _store(self, scheme: str, shown: str) -> Any:
        try:
            import fsspec

            return fsspec.filesystem(scheme)
        except (ImportError, ValueError):
            raise SettingError(Problem(f"{scheme}:// URLs can't be read here", Location(shown), HINT)) from None
        except Exception as error:  # noqa: BLE001  (each file system raises other errors)
            raise _unreadable_error(shown, error) from None


def _fixed_part(path: str) -> str:
    """The folder before the first wildcard."""
    folders = path.split("/")
    first = next((index for index, name in enumerate(folders) if set(name) & set("*?[")), len(folders) - 1)
    return "/".join(folders[:first])


def _relative_path(name: str, fixed: str) -> str:
    inside = name.lstrip("/").removeprefix(fixed.lstrip("/"))
    return inside.lstrip("/") or name.rpartition("/")[2]


def _unreadable_error(shown: str, error: Exception) -> RefusedPath:
    """The error for a failed read. Names only the type: the message may hold credentials."""
    return RefusedPath(Problem(f"this can't be read ({type(error).__name__})", Location(shown)))
