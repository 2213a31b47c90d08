"""Reads untrusted zip archives: members by exact name, in memory, within size limits."""

from __future__ import annotations

import io
import stat
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator

MAX_ENTRIES = 1_000
STORED, DEFLATED = 0, 8
"""Compression methods, as numbered by the zip specification."""
CHUNK = 1 << 16
ENTRY_SIGNATURE = b"PK\x01\x02"
"""Signature of each entry in the archive's directory; compressed data contains it only by chance."""


class ZipRefusedError(ValueError):
    """The archive is damaged or malicious."""


class SafeZip:
    """A zip archive in memory. Nothing is extracted to disk."""

    def __init__(self, content: bytes, max_unpacked: int, max_entries: int = MAX_ENTRIES) -> None:
        self._bytes_left = max_unpacked
        # Counted before the library builds an object for each entry: a million fit into the allowed bytes.
        if content.count(ENTRY_SIGNATURE) > 2 * max_entries:
            raise _too_many_entries(max_entries)
        import zipfile  # slow to import, so only for runs that read a zip

        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _damage_errors():
            raise ZipRefusedError("it is not a zip file, or it is damaged") from None
        self._entries = self._zip.infolist()
        if len(self._entries) > max_entries:
            raise _too_many_entries(max_entries)
        self._entries_by_name: dict[str, list[zipfile.ZipInfo]] = {}
        for entry in self._entries:
            self._entries_by_name.setdefault(entry.filename, []).append(entry)

    def names(self) -> list[str]:
        """Names of all entries, as written in the archive."""
        return [entry.filename for entry in self._entries]

    def compression_methods(self) -> frozenset[int]:
        """The compression methods of its entries, as numbered by the zip specification."""
        return frozenset(entry.compress_type for entry in self._entries)

    def read(self, name: str, max_bytes: int | None = None) -> bytes:
        """Reads the only member of that name, at most `max_bytes`. Raises ZipRefusedError."""
        entry = self._find_member(name)
        if max_bytes is not None and entry.file_size > max_bytes:
            raise ZipRefusedError(f"{name} in it is larger than {max_bytes:,} bytes")
        parts = []
        try:
            with self._zip.open(entry) as stream:
                while part := stream.read(CHUNK):
                    self._count_unpacked(len(part))
                    parts.append(part)
        except ZipRefusedError:
            raise
        except _damage_errors():
            raise ZipRefusedError(f"{name} in it is damaged") from None
        return b"".join(parts)

    def lines(self, name: str, max_length: int = -1) -> Iterator[bytes]:
        """Yields the lines of the only member of that name while unpacking it. Raises ZipRefusedError.

        A line may have `max_length` bytes; -1 means no limit.
        """
        entry = self._find_member(name)
        try:
            unpacked = cast("zipfile.ZipExtFile", self._zip.open(entry))
            with unpacked, io.BufferedReader(unpacked, CHUNK) as stream:  # twice as fast as its own lines
                while line := stream.readline(max_length):
                    self._count_unpacked(len(line))
                    if len(line) == max_length and not line.endswith(b"\n"):
                        raise ZipRefusedError(f"a line of {name} in it is longer than {max_length:,} bytes")
                    yield line
        except ZipRefusedError:
            raise
        except _damage_errors():
            raise ZipRefusedError(f"{name} in it is damaged") from None

    def _find_member(self, name: str) -> zipfile.ZipInfo:
        found = self._entries_by_name.get(name, [])
        if len(found) != 1:
            raise ZipRefusedError(f"it has {len(found) or 'no'} entries called {name}")
        entry = found[0]
        mode = entry.external_attr >> 16
        if entry.flag_bits & 0x1:
            raise ZipRefusedError(f"{name} in it is encrypted")
        if name.endswith("/") or (mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
            raise ZipRefusedError(f"{name} in it is not a regular file")
        if entry.compress_type not in (STORED, DEFLATED):
            raise ZipRefusedError(f"{name} in it is compressed with an unsupported method")
        if entry.file_size > self._bytes_left:
            raise ZipRefusedError(f"{name} in it is too large")
        return entry

    def _count_unpacked(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise ZipRefusedError("it unpacks to more than the limit")


def _too_many_entries(max_entries: int) -> ZipRefusedError:
    return ZipRefusedError(f"it has more than {max_entries:,} entries")


def _damage_errors() -> tuple[type[Exception], ...]:
    """The exceptions that zipfile raises for damaged archives."""
    import struct
    import zipfile
    import zlib

    errors = zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError
    return *errors, ValueError, IndexError, OverflowError, struct.error  # invalid offsets and sizes
